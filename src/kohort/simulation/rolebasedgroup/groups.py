"""
The instances of a RoleBasedGroup's roles, from RoleInstances and the pods that each controls.

An instance serves when it is whole, all its pods run what the RoleInstance says, are ready, and
have both gates open. So it serves no more from the moment at which the operator writes another
template into it, closes a gate, or deletes any of it: these writes are decisions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from kohort.cluster.objects import Object, is_leaving, labels_of
from kohort.simulation.checkers.truth import Group, Truth, controller_of, image_of, is_ready
from kohort.simulation.rolebasedgroup.carried import (
    CarriedUnit,
    find_carrier,
    list_carried,
    read_carried,
)
from kohort.simulation.rolebasedgroup.labels import (
    GATES,
    IN_PLACE_ONLY,
    INSTANCE,
    LABELS,
    RECREATE_POD,
    ROLE,
    SET,
)
from kohort.simulation.rolebasedgroup.wishes import (
    carrier_of,
    count_wanted,
    differs,
    find_role,
    has_ordinals,
    is_stateless,
    manner_of,
    read_contents,
    read_role_policy,
    recovers,
    roles_of,
    size_of,
    template_of,
)
from kohort.simulation.scenario import NAME
from kohort.simulation.simulated_api import LineView, Policy

ORDINAL_MAX = 999
_IDENTITY = 5  # characters that name an instance without an ordinal
# An ordinal, or the five characters of an instance without one.
_INSTANCE = re.compile(rf"{NAME}-([a-z])-(\d{{1,3}}|[a-z0-9]{{5}})")
_POD = re.compile(rf"({NAME}-([a-z])-(?:\d{{1,3}}|[a-z0-9]{{5}}))(?:-(\d+)|-([a-z]+)-(\d+))?")


class RoleUnit(Group):
    """One instance of a role: its RoleInstance and its pods."""

    __slots__ = ("contents", "instance", "pods", "role", "templates")

    def __init__(
        self,
        role: str,
        instance: Object,
        pods: list[Object],
        truth: Truth,
        ordinal: int | None = None,  # None: its name tells
    ) -> None:
        self.role, self.instance = role, instance
        self.pods = [pod for pod in pods if not is_leaving(pod)]
        self.leader = next(iter(pods), instance)
        self.workers, self.staying = pods[1:], self.pods[1:]
        name = instance["metadata"]["name"]
        self.ordinal = read_ordinal(name.rsplit("-", 1)[1]) if ordinal is None else ordinal
        self.uid = instance["metadata"]["uid"]
        components = instance["spec"]["components"]
        self.size = sum(component.get("size", 1) for component in components)
        self.templates = [component["template"] for component in components]
        self.contents = {read_contents(template) for template in self.templates}
        self.revision = LABELS.revision_of(instance).rsplit("-", 1)[-1]
        self.revisions = {truth.marks.origin_of(pod) for pod in self.pods} - {""}
        marks = truth.marks
        edited = marks.relabelled | marks.replaced
        self.is_edited = any(pod["metadata"]["uid"] in edited for pod in pods)
        self.is_ready = self._serves()

    @property
    def members(self) -> list[Object]:
        """All pods that stay."""
        return self.pods

    @property
    def are_pods_ready(self) -> bool:
        """Whether all its pods are there and ready, whatever they run."""
        return self.have_all_ready(self.size)

    def have_all_ready(self, size: int) -> bool:
        """Whether there are so many pods, and all are ready, whatever they run."""
        is_whole = len(self.pods) == size
        return is_whole and all(is_ready(pod) and _are_gates_open(pod) for pod in self.pods)

    def _serves(self) -> bool:
        same = all({read_contents(pod)} == self.contents for pod in self.pods)
        return same and not is_leaving(self.instance) and self.are_pods_ready


def read_ordinal(identity: str) -> int:
    """The ordinal of an instance; an instance without one gets a large number of its own."""
    return int(identity) if len(identity) < _IDENTITY else int(identity, 36)


def _are_gates_open(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    held = {c["type"]: c["status"] for c in conditions}
    return all(held.get(gate) == "True" for gate in GATES)


AnyUnit = RoleUnit | CarriedUnit


class WholeGroup(Group):
    """The whole group, which never rolls: all instances of all roles."""

    __slots__ = ("units",)

    def __init__(
        self,
        units: Mapping[str, Sequence[AnyUnit]],
        wanted: dict[str, int],
        said: Mapping[str, int] | None = None,  # ready units of each role, by other controllers
    ) -> None:
        self.units = units
        pods = [pod for own in units.values() for unit in own for pod in unit.pods]
        self.leader, self.workers, self.staying = pods[0], pods[1:], pods[1:]
        self.ordinal, self.size, self.uid = 0, len(pods), "group"
        self.revisions = {
            revision for own in units.values() for u in own for revision in u.revisions
        }
        self.is_edited = any(unit.is_edited for own in units.values() for unit in own)
        self.revision = ""
        self.is_ready = all(
            max(sum(unit.is_ready for unit in units.get(role, ())), (said or {}).get(role, 0))
            >= count
            for role, count in wanted.items()
        )


def list_units(truth: Truth) -> Iterator[RoleUnit]:
    """The instances that sets of the workload control and that are not leaving."""
    by_instance: dict[str, list[Object]] = {}
    for pod in truth.pods():
        by_instance.setdefault(controller_of(pod), []).append(pod)
    sets = {found["metadata"]["uid"] for found in truth.objects[SET].values()}
    for name, instance in sorted(truth.objects[INSTANCE].items()):
        place = _INSTANCE.fullmatch(name)
        if place and controller_of(instance) in sets and not is_leaving(instance):
            pods = by_instance.get(instance["metadata"]["uid"], [])
            ordered = sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))
            yield RoleUnit(place.group(1), instance, ordered, truth)


def sort_units(truth: Truth) -> dict[str, list[AnyUnit]]:
    """Instances, and units that other controllers make, by their roles, lowest first."""
    found: dict[str, list[AnyUnit]] = {}
    for unit in list_units(truth):
        found.setdefault(unit.role, []).append(unit)
    for role in roles_of((truth.workload or {}).get("spec")):
        if carrier_of(role) is not None:
            found[role["name"]] = [*list_carried(truth, role)]
    return {role: sorted(own, key=lambda unit: unit.ordinal) for role, own in found.items()}


def list_groups(truth: Truth) -> list[Group]:
    """The group, if it has a pod that stays."""
    units = sort_units(truth)
    if not any(unit.pods for own in units.values() for unit in own) or truth.workload is None:
        return []
    return [WholeGroup(units, count_wanted(truth, truth.workload["spec"]), _read_said(truth))]


def list_lines(truth: Truth) -> list[LineView]:
    """The instances of each role."""
    workload = truth.workload
    if workload is None:
        return []
    groups = truth.groups()
    units = groups[0].units if groups else sort_units(truth)  # type: ignore[attr-defined]
    wanted = count_wanted(truth, workload["spec"])
    lines = []
    for role in roles_of(workload["spec"]):
        name, own = role["name"], units.get(role["name"], ())
        held = (_INSTANCE.fullmatch(each) for each in truth.objects[INSTANCE])
        lines.append(
            LineView(
                f"role {name}",
                tuple(own),
                frozenset(read_ordinal(h.group(2)) for h in held if h and h.group(1) == name),
                read_role_policy(role, wanted[name]),
                rolls=True,
                recovers=recovers(role),
                is_uniform=False,
                is_inner=True,
                role=name,
                after=tuple(role.get("dependencies") or ()),
                spares_lost=True,
                is_stateless=not has_ordinals(role),
                carried=read_carried(truth, role) if carrier_of(role) else None,
            )
        )
    return lines


def read_policy(workload: Object) -> Policy:
    """The policy of the group as a whole, which no rollout replaces."""
    return Policy(1, 1, 0, 0)


def is_old(unit: Group, spec: Object) -> bool:
    """Whether an instance, or a pod of it, differs from its role in a spec."""
    if isinstance(unit, WholeGroup):
        return any(is_old(each, spec) for own in _units_of(unit).values() for each in own)
    if isinstance(unit, CarriedUnit):
        return unit.is_old(spec)
    assert isinstance(unit, RoleUnit)
    role = find_role(spec, unit.role)
    if role is None or unit.size != size_of(role):
        return True
    asked = template_of(role)
    return any(differs(held, asked) for held in (*unit.templates, *unit.pods))


def _units_of(group: Group) -> Mapping[str, Sequence[AnyUnit]]:
    assert isinstance(group, WholeGroup)
    return group.units


def has_old_image(group: Group, spec: Object) -> bool:
    """Whether an instance that should be updated runs something else."""
    for name, units in _units_of(group).items():
        role = find_role(spec, name)
        if role is None:
            continue
        asked = image_of(template_of(role))
        partition = read_role_policy(role, len(units)).partition
        old = [unit for unit in units if any(image_of(pod) != asked for pod in unit.pods)]
        if carrier_of(role) is not None:
            old = [unit for unit in old if is_old(unit, spec)]
        kept = set(units[:partition])
        if is_stateless(role):
            kept = set(old[:partition])  # so many, whichever they are
        # A running instance that cannot follow may be kept by its policy.
        if any(carrier_of(role) or can_follow(u, spec) for u in old if u not in kept):
            return True
    return False


def can_follow(unit: Group, spec: Object) -> bool:
    """Whether a running instance can be updated in place to its role in a spec."""
    if isinstance(unit, CarriedUnit):
        return False
    assert isinstance(unit, RoleUnit)
    role = find_role(spec, unit.role)
    if role is None or unit.size != size_of(role) or manner_of(role) == RECREATE_POD:
        return False
    _, mode = read_contents(template_of(role))
    found = {held for _, held in unit.contents} | {read_contents(pod)[1] for pod in unit.pods}
    return found == {mode}


def is_kept_old(unit: Group, spec: Object) -> bool:
    """Whether an instance stays old, since it cannot follow and may not be made anew."""
    if isinstance(unit, CarriedUnit):
        return False
    assert isinstance(unit, RoleUnit)
    role = find_role(spec, unit.role)
    is_only = role is not None and manner_of(role) == IN_PLACE_ONLY
    return is_only and not can_follow(unit, spec)


def is_told(unit: Group, spec: Object) -> bool:
    """Whether a RoleInstance has the template of a spec; its pods may still be old."""
    if isinstance(unit, CarriedUnit):
        return not unit.is_old(spec)
    assert isinstance(unit, RoleUnit)
    role = find_role(spec, unit.role)
    if role is None or unit.size != size_of(role):
        return False
    return not any(differs(held, template_of(role)) for held in unit.templates)


def find_image(spec: Object) -> str:
    """The image of the pods of the first role."""
    return image_of(template_of(roles_of(spec)[0]))


def count_ready(truth: Truth) -> int:
    """The instances of all roles that serve."""
    return sum(unit.is_ready for own in sort_units(truth).values() for unit in own)


def count_by_role(truth: Truth) -> dict[str, int]:
    """The units of each role that serve, or that the controller which makes them says to serve."""
    found = {name: sum(u.is_ready for u in own) for name, own in sort_units(truth).items()}
    said = _read_said(truth)
    return {name: max(count, said.get(name, 0)) for name, count in found.items()}


def _read_said(truth: Truth) -> dict[str, int]:
    """What other controllers count as ready: a StatefulSet counts a pod that leaves, too."""
    roles = roles_of((truth.workload or {}).get("spec"))
    held = {role["name"]: find_carrier(truth, role) for role in roles}
    return {
        name: (carrier.get("status") or {}).get("readyReplicas") or 0
        for name, carrier in held.items()
        if carrier is not None
    }


def is_in_place(pod: Object) -> bool:
    """Whether the labels of a pod say what its name says."""
    found = _POD.fullmatch(pod["metadata"]["name"])
    assert found is not None
    instance, role, index, component, ordinal = found.groups()
    if component is not None:
        return LABELS.place_of(pod) == [instance, component, ordinal]
    if index is None:
        return LABELS.place_of(pod) == [instance, role, "0"]
    place = ("leader", "0") if index == "0" else ("worker", str(int(index) - 1))
    return LABELS.place_of(pod) == [instance, *place]


def list_services(pod: Object) -> tuple[str, ...]:
    """The Service that the pods of a role are found by."""
    return (f"s-{NAME}-{labels_of(pod).get(ROLE, '')}",)
