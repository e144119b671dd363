"""
A RoleInstance by hand, read as the only instance of a group's only role.

The user writes its spec, so it is told what to be from that moment on; its pods are old until they
are what the spec says. A pod beyond the size of its component is old, too.
"""

import re
from collections.abc import Iterator

from kohort.cluster.objects import Object, is_leaving
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.status import says_true
from kohort.simulation.checkers.truth import Group, Truth, controller_of
from kohort.simulation.instanceset.labels import LABELS
from kohort.simulation.rolebasedgroup import groups
from kohort.simulation.rolebasedgroup.groups import RoleUnit, WholeGroup
from kohort.simulation.rolebasedgroup.wishes import recovers
from kohort.simulation.roleinstance.scenarios import list_names
from kohort.simulation.scenario import NAME
from kohort.simulation.simulated_api import LineView, Policy

ROLE = "a"
READY = "RoleInstanceReady"
ONE = Policy(1, 1, 0, 0)
_POD = re.compile(rf"({NAME})-([a-z]+)-(\d+)")


def as_group(spec: Object) -> Object:
    """The spec of a group whose only role has only this instance."""
    return {"roles": [{"name": ROLE, "replicas": 1, "customComponentsPattern": spec}]}


def is_old(unit: Group, spec: Object) -> bool:
    """Whether an instance, or a pod of it, is not what a spec asks for."""
    names = {pod["metadata"]["name"] for pod in unit.members}
    return not names <= {*list_names(spec)} or groups.is_old(unit, as_group(spec))


def can_follow(unit: Group, spec: Object) -> bool:
    """Whether just the pods that a spec asks for are there, and change to it as they run."""
    names = sorted(pod["metadata"]["name"] for pod in unit.members)
    return names == sorted(list_names(spec)) and groups.can_follow(unit, as_group(spec))


def list_units(truth: Truth) -> list[RoleUnit]:
    """The instance with the pods that it controls, unless it is leaving."""
    workload = truth.workload
    if workload is None or is_leaving(workload):
        return []
    uid = workload["metadata"]["uid"]
    pods = [pod for pod in truth.pods() if controller_of(pod) == uid]
    ordered = sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))
    return [RoleUnit(ROLE, workload, ordered, truth, ordinal=0)]


def list_groups(truth: Truth) -> list[Group]:
    """The instance as a group, if there is a pod that stays."""
    units = list_units(truth)
    return [WholeGroup({ROLE: units}, {ROLE: 1})] if any(unit.pods for unit in units) else []


def list_lines(truth: Truth) -> list[LineView]:
    """The instance as a line of one."""
    workload = truth.workload
    if workload is None:
        return []
    (role,) = as_group(workload["spec"])["roles"]
    return [
        LineView(
            "the instance",
            tuple(list_units(truth)),
            frozenset((0,)),
            ONE,
            rolls=True,
            recovers=recovers(role),
            is_uniform=False,
            is_inner=True,
            role=ROLE,
            spares_lost=True,
        )
    ]


def is_in_place(pod: Object) -> bool:
    """Whether the labels of a pod say what its name says."""
    found = _POD.fullmatch(pod["metadata"]["name"])
    return found is not None and LABELS.place_of(pod) == list(found.groups())


def count_ready(truth: Truth) -> int:
    """One, if all pods are ready, by the spec or, until that is observed, by the one before it."""
    workload = truth.workload
    if workload is None:
        return 0
    observed = (workload.get("status") or {}).get("observedGeneration", 0)
    spec: Object = workload["spec"]
    sizes = {len(list_names(each)) for each in (spec, truth.specs.get(observed, spec))}
    return sum(any(unit.have_all_ready(size) for size in sizes) for unit in list_units(truth))


def says_over(status: Object) -> bool:
    """A rollout is over when the instance is ready with the revision that was asked for."""
    current, target = status.get("currentRevision"), status.get("updateRevision")
    return says_true(status, READY) and current == target


def find_trouble(scene: Scene) -> str:
    """What is not as it was asked for when all is at rest; empty if all is."""
    workload = scene.truth.workload
    assert workload is not None
    return next(_list_troubles(scene.truth, workload), "")


def _list_troubles(truth: Truth, workload: Object) -> Iterator[str]:
    units, names = list_units(truth), sorted(list_names(workload["spec"]))
    held = [pod["metadata"]["name"] for pod in truth.pods()]
    if sorted(held) != names:
        yield f"pods {sorted(held)}, {names} are wanted"
    for unit in units:
        if not unit.is_ready:
            yield "the instance does not serve"
        if is_old(unit, workload["spec"]):
            yield "the instance is old"
        own = {pod["metadata"]["uid"] for pod in unit.pods}
        if any(pod["metadata"]["uid"] not in own for pod in truth.pods()):
            yield "there are pods that the instance does not control"
    if moved := [pod for pod in truth.pods() if pod["metadata"]["uid"] in truth.marks.moved]:
        yield f"pods {[pod['metadata']['name'] for pod in moved]} have labels of another place"
    yield from _list_in_status(workload)


def _list_in_status(workload: Object) -> Iterator[str]:
    status = workload.get("status") or {}
    if status.get("observedGeneration") != workload["metadata"]["generation"]:
        yield "the status is of an old generation"
    if not says_over(status):
        yield "the status does not say that the instance is ready and updated"
    keys = ("name", "size", "readyReplicas", "updatedReplicas")
    said = [[each.get(key) for key in keys] for each in status.get("componentStatuses") or ()]
    sizes = [(each["name"], each.get("size", 1)) for each in workload["spec"]["components"]]
    if said != [[name, size, size, size] for name, size in sizes]:
        yield f"the status counts {said}, and {sizes} are wanted"
