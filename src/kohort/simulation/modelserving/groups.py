"""
The groups of a ModelServing and the instances of its roles, from its pods.

Group, role, instance and index of a pod are read from its name, since names cannot be changed.
An instance is its entry and the workers that were made for this very entry.
"""

import re
from dataclasses import dataclass

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of, is_leaving
from kohort.simulation.checkers.truth import Group, Marks, Truth, image_of
from kohort.simulation.modelserving.labels import (
    ENTRY_UID,
    GROUP_RECREATE,
    LABELS,
    MIN_READY,
    RECOVER_NONE,
    ROLE_RECREATE,
    ROLE_ROLLING,
    SIZE,
)
from kohort.simulation.scenario import NAME
from kohort.simulation.simulated_api import LineView, Policy, read_budget
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES

_NAME = re.compile(rf"{NAME}-(\d+)-([a-z]+)-(\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pod stands, by its name."""

    group: int
    role: str
    instance: int
    index: int


def find_place(name: str) -> Place | None:
    """The place that the name of a pod stands for."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    group, role, instance, index = found.groups()
    return Place(int(group), role, int(instance), int(index))


class ServingGroup(Group):
    """A group: the instances of all its roles, of which the first entry stands for all."""

    __slots__ = ("instances", "made_from")

    def __init__(
        self, ordinal: int, instances: dict[str, list[Group]], roles: list[Object], marks: Marks
    ) -> None:
        self.instances = instances
        self.made_from: list[Object] | None = None  # the roles of its revision, where that is known
        found = [instance for own in instances.values() for instance in own]
        pods = [pod for instance in found for pod in instance.members]
        super().__init__(ordinal, pods[0], pods[1:], len(pods), marks)
        self.is_edited = any(instance.is_edited for instance in found)
        self.is_ready = all(
            sum(instance.is_ready for instance in instances.get(role["name"], ()))
            >= role.get("replicas", 1)
            for role in roles
        )

    @property
    def parts(self) -> list[list[Object]]:
        """The pods of each role."""
        return [
            [pod for instance in own for pod in instance.members] for own in self.instances.values()
        ]


def roles_of(workload: Object | None) -> list[Object]:
    """The roles that a workload asks for."""
    found: list[Object] = workload["spec"]["template"]["roles"] if workload else []
    return found


def list_groups(truth: Truth) -> list[Group]:
    """The groups that have an instance which stays, lowest ordinal first."""
    roles = roles_of(truth.workload)
    by_group: dict[int, dict[str, list[Group]]] = {}
    for place, instance in _list_instances(truth):
        by_group.setdefault(place.group, {}).setdefault(place.role, []).append(instance)
    found = [
        ServingGroup(ordinal, instances, roles, truth.marks)
        for ordinal, instances in sorted(by_group.items())
    ]
    if truth.workload is not None and not rolls_by_role(truth.workload):
        stored = {
            LABELS.revision_of(r): r for r in truth.objects[kinds.CONTROLLER_REVISION].values()
        }
        for group in found:
            held = stored.get(group.revision)
            group.made_from = held["data"]["data"] if held else None
    return list(found)


def _list_instances(truth: Truth) -> list[tuple[Place, Group]]:
    entries: dict[tuple[int, str, int], Object] = {}
    workers: dict[tuple[int, str, int], list[Object]] = {}
    for pod in truth.pods():
        place = find_place(pod["metadata"]["name"])
        if place is None:
            continue
        key = place.group, place.role, place.instance
        if place.index:
            workers.setdefault(key, []).append(pod)
        elif not is_leaving(pod):
            entries[key] = pod
    found = []
    spec = (truth.workload or {"spec": {}})["spec"]
    # Without a policy, workers stay when their entry goes.
    is_alone = spec.get("recoveryPolicy") == RECOVER_NONE
    for key, entry in sorted(entries.items()):
        known = (None, entry["metadata"]["uid"])
        held = workers.get(key, [])
        own = [w for w in held if is_alone or annotations_of(w).get(ENTRY_UID) in known]
        size = int(annotations_of(entry).get(SIZE, "1"))
        found.append((Place(*key, 0), Group(key[2], entry, own, size, truth.marks)))
    return found


def list_lines(truth: Truth) -> list[LineView]:
    """The groups, and the instances of each role in each of them."""
    workload = truth.workload
    if workload is None:
        return []
    by_role = rolls_by_role(workload)
    places = [place for pod in truth.pods() if (place := find_place(pod["metadata"]["name"]))]
    groups = truth.groups()
    held = frozenset(place.group for place in places)
    recovery = workload["spec"].get("recoveryPolicy", ROLE_RECREATE)
    lines = [
        LineView(
            "groups",
            tuple(groups),
            held,
            read_policy(workload),
            rolls=not by_role,
            recovers=recovery == GROUP_RECREATE,
            is_uniform=not by_role,
        )
    ]
    for group in groups:
        assert isinstance(group, ServingGroup)
        for role in roles_of(workload):
            name = role["name"]
            own = [p for p in places if (p.group, p.role) == (group.ordinal, name)]
            lines.append(
                LineView(
                    f"group {group.ordinal} role {name}",
                    tuple(group.instances.get(name, ())),
                    frozenset(place.instance for place in own),
                    read_role_policy(role),
                    rolls=by_role,
                    recovers=recovery == ROLE_RECREATE,
                    is_uniform=True,
                    is_inner=True,
                )
            )
    return lines


def rolls_by_role(workload: Object) -> bool:
    """Whether roles roll by themselves, within their groups."""
    strategy = workload["spec"].get("rolloutStrategy") or {}
    return strategy.get("type") == ROLE_ROLLING


def read_policy(workload: Object) -> Policy:
    """The policy of the groups; maxUnavailable in percent rounds down."""
    spec = workload["spec"]
    wanted = spec.get("replicas", 1)
    rolling = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    if rolls_by_role(workload):
        # No rollout takes groups; each role has its own budget.
        return Policy(wanted, wanted, 0, 0)
    return Policy(wanted, *read_budget(rolling, wanted), _partition(rolling))


def read_role_policy(role: Object) -> Policy:
    """The policy of a role's instances in each group."""
    wanted = role.get("replicas", 1)
    unavailable = role.get("maxUnavailable")
    return Policy(wanted, wanted if unavailable is None else unavailable, 0, _partition(role))


def _partition(holder: Object) -> int:
    return int(holder.get("partition") or 0)


def is_old(group: Group, spec: Object) -> bool:
    """Whether pods of a group or an instance differ from the roles of a spec."""
    asked: list[Object] = spec["template"]["roles"]
    made_from = group.made_from if isinstance(group, ServingGroup) else None
    if made_from is not None and list(map(_bare, made_from)) != list(map(_bare, asked)):
        # The pods that the change concerns may be gone already.
        return True
    roles = {role["name"]: role for role in asked}
    return any(_is_old_pod(pod, roles) for pod in group.members)


def _bare(role: Object) -> Object:
    """A role without the fields that change without a restart of its pods."""
    return {key: value for key, value in role.items() if key not in _COUNTS}


_COUNTS = ("replicas", "maxUnavailable", "partition")


def has_old_image(group: Group, spec: Object) -> bool:
    """The same, for what its containers run."""
    roles = {role["name"]: role for role in spec["template"]["roles"]}
    return any(image_of(pod) != _image_at(pod, roles) for pod in group.members)


def _image_at(pod: Object, roles: dict[str, Object]) -> str:
    place = find_place(pod["metadata"]["name"])
    assert place is not None
    return image_of(_template_at(roles[place.role], place.index)) if place.role in roles else ""


def _template_at(role: Object, index: int) -> Object:
    template: Object = role["workerTemplate" if index else "entryTemplate"]
    return template


def _is_old_pod(pod: Object, roles: dict[str, Object]) -> bool:
    place = find_place(pod["metadata"]["name"])
    if place is None or place.role not in roles:
        return True
    role = roles[place.role]
    found = annotations_of(pod)
    if found.get(SIZE, "1") != str(1 + (role.get("workerReplicas") or 0)):
        return True
    template = _template_at(role, place.index)
    notes = (template.get("metadata") or {}).get("annotations") or {}
    # What makes a pod crash a few times is no part of a template.
    is_other = CRASH_TIMES not in found and found.get(CRASH_AFTER) != notes.get(CRASH_AFTER)
    return is_other or image_of(pod) != image_of(template)


def find_image(spec: Object) -> str:
    """The image of the entry pods of the first role."""
    return image_of(spec["template"]["roles"][0]["entryTemplate"])


def find_min_ready(workload: Object) -> int:
    """Seconds that units have to be ready before they count."""
    return int(annotations_of(workload).get(MIN_READY, "0"))


def count_pods(group: Group, truth: Truth) -> int:
    """The pods that a group has when it is whole: counts of now, sizes of its own revision."""
    assert isinstance(group, ServingGroup)
    total = 0
    for role in roles_of(truth.workload):
        found = group.instances.get(role["name"], [])
        asked = 1 + (role.get("workerReplicas") or 0)
        # No gang waits for pods that an instance of another size does not have.
        size = min((instance.size for instance in found), default=asked)
        total += role.get("replicas", 1) * size
    return total


def is_in_place(pod: Object) -> bool:
    """Whether the labels of a pod say what its name says."""
    place = find_place(pod["metadata"]["name"])
    assert place is not None
    named = [f"{NAME}-{place.group}", place.role, f"{place.role}-{place.instance}"]
    return LABELS.place_of(pod) == named


def list_services(pod: Object) -> tuple[str, ...]:
    """The service that the pods of an instance find each other by."""
    place = find_place(pod["metadata"]["name"])
    if place is None or annotations_of(pod).get(SIZE, "1") == "1":
        return ()
    return (f"{NAME}-{place.group}-{place.role}-{place.instance}-0",)
