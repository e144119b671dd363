"""
The instances of a RoleInstanceSet by hand, read as those of a group's only role.

The set is written as the spec of a group with one role, so that the same functions say whether an
instance is old, could follow, or stays.
"""

import re
from collections.abc import Callable, Iterator

from kohort.cluster.objects import Object, annotations_of, is_leaving
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.kept_units import list_hopeless
from kohort.simulation.checkers.truth import Group, Truth, controller_of
from kohort.simulation.instanceset.labels import LABELS
from kohort.simulation.rolebasedgroup import groups
from kohort.simulation.rolebasedgroup.groups import ORDINAL_MAX, RoleUnit, WholeGroup, read_ordinal
from kohort.simulation.rolebasedgroup.labels import INSTANCE, PATTERN, SET, STATELESS
from kohort.simulation.rolebasedgroup.wishes import read_role_policy, recovers
from kohort.simulation.scenario import NAME
from kohort.simulation.simulated_api import LineView

ROLE = "a"
_INSTANCE = re.compile(rf"{NAME}-(\d{{1,3}}|[a-z0-9]{{5}})")
_POD = re.compile(rf"({NAME}-(?:\d{{1,3}}|[a-z0-9]{{5}}))-([a-z]+)-(\d+)")


def as_group(spec: Object) -> Object:
    """The spec of a group whose only role is the set."""
    role = {
        "name": ROLE,
        "replicas": spec["replicas"],
        "rolloutStrategy": {"rollingUpdate": spec["updateStrategy"]},
        "customComponentsPattern": spec["roleInstanceTemplate"],
    }
    return {"roles": [role]}


def on_group(ask: Callable[[Group, Object], bool]) -> Callable[[Group, Object], bool]:
    """A question about an instance and the spec of a group, asked with the spec of a set."""
    return lambda unit, spec: ask(unit, as_group(spec))


def list_units(truth: Truth) -> Iterator[RoleUnit]:
    """The instances that the set controls and that are not leaving."""
    by_instance: dict[str, list[Object]] = {}
    for pod in truth.pods():
        by_instance.setdefault(controller_of(pod), []).append(pod)
    sets = {found["metadata"]["uid"] for found in truth.objects[SET].values()}
    for name, instance in sorted(truth.objects[INSTANCE].items()):
        is_ours = _INSTANCE.fullmatch(name) and controller_of(instance) in sets
        if is_ours and not is_leaving(instance):
            pods = by_instance.get(instance["metadata"]["uid"], [])
            ordered = sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))
            yield RoleUnit(ROLE, instance, ordered, truth)


def sort_units(truth: Truth) -> list[RoleUnit]:
    """The instances, lowest first."""
    return sorted(list_units(truth), key=lambda unit: unit.ordinal)


def list_groups(truth: Truth) -> list[Group]:
    """All instances as one group, if there is a pod that stays."""
    units = sort_units(truth)
    if truth.workload is None or not any(unit.pods for unit in units):
        return []
    return [WholeGroup({ROLE: units}, {ROLE: truth.workload["spec"]["replicas"]})]


def list_lines(truth: Truth) -> list[LineView]:
    """The instances as a line."""
    workload = truth.workload
    if workload is None:
        return []
    (role,) = as_group(workload["spec"])["roles"]
    held = (_INSTANCE.fullmatch(name) for name in truth.objects[INSTANCE])
    return [
        LineView(
            "the set",
            tuple(sort_units(truth)),
            frozenset(read_ordinal(found.group(1)) for found in held if found),
            read_role_policy(role, workload["spec"]["replicas"]),
            rolls=True,
            recovers=recovers(role),
            is_uniform=False,
            is_inner=True,
            role=ROLE,
            spares_lost=True,
            is_stateless=is_stateless(workload),
        )
    ]


def is_stateless(workload: Object) -> bool:
    """Whether instances have no ordinals."""
    return annotations_of(workload).get(PATTERN) == STATELESS


def is_in_place(pod: Object) -> bool:
    """Whether the labels of a pod say what its name says."""
    found = _POD.fullmatch(pod["metadata"]["name"])
    return found is not None and LABELS.place_of(pod) == list(found.groups())


def count_ready(truth: Truth) -> int:
    """The instances that serve."""
    return sum(unit.is_ready for unit in list_units(truth))


def find_trouble(scene: Scene) -> str:
    """What is not as it was asked for when all is at rest; empty if all is."""
    workload = scene.truth.workload
    assert workload is not None
    return next(_list_troubles(scene.truth, workload), "")


def _list_troubles(truth: Truth, workload: Object) -> Iterator[str]:
    units, wanted = sort_units(truth), workload["spec"]["replicas"]
    yield from _list_in_pods(truth, units)
    if list_hopeless(truth):
        return
    ordinals, spec = [unit.ordinal for unit in units], as_group(workload["spec"])
    is_right = ordinals == list(range(wanted))
    if is_stateless(workload):
        is_right = len(ordinals) == wanted and all(each > ORDINAL_MAX for each in ordinals)
        units = sorted(units, key=lambda unit: not groups.is_old(unit, spec))
    if not is_right:
        yield f"instances {ordinals}, {wanted} are wanted"
    if unready := [unit.ordinal for unit in units if not unit.is_ready]:
        yield f"instances {unready} do not serve"
    partition = int(workload["spec"]["updateStrategy"].get("partition") or 0)
    for unit in units[partition:]:
        if groups.is_old(unit, spec) and not groups.is_kept_old(unit, spec):
            yield f"instance {unit.ordinal} is old"
    yield from _list_in_status(workload, units, spec)


def _list_in_pods(truth: Truth, units: list[RoleUnit]) -> Iterator[str]:
    own = {pod["metadata"]["uid"] for unit in units for pod in unit.pods}
    if more := [
        pod["metadata"]["name"] for pod in truth.pods() if pod["metadata"]["uid"] not in own
    ]:
        yield f"pods {more} belong to no instance"
    if moved := [pod for pod in truth.pods() if pod["metadata"]["uid"] in truth.marks.moved]:
        yield f"pods {[pod['metadata']['name'] for pod in moved]} have labels of another place"


def _list_in_status(workload: Object, units: list[RoleUnit], spec: Object) -> Iterator[str]:
    status = workload.get("status") or {}
    if status.get("observedGeneration") != workload["metadata"]["generation"]:
        yield "the status is of an old generation"
    updated = sum(not groups.is_old(unit, spec) for unit in units)
    said = [status.get(key) for key in ("replicas", "readyReplicas", "updatedReplicas")]
    if said != [len(units), len(units), updated]:
        yield f"the status counts {said}, and {updated} of {len(units)} are updated"
