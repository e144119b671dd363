"""
The objects and the status that a ModelServing must have at rest, from its spec alone.

Groups and instances may have any ordinals, since those that cost least go first; how many there
are, what they are made of and what the status says of them is decided by the spec.
"""

from collections.abc import Iterator

from kohort.cluster import kinds
from kohort.cluster.objects import Object, annotations_of
from kohort.simulation.checkers.checker import Scene
from kohort.simulation.checkers.kept_units import list_hopeless
from kohort.simulation.checkers.truth import CHILDREN, Group, image_of, list_kept
from kohort.simulation.modelserving.groups import (
    ServingGroup,
    is_old,
    list_services,
    read_policy,
    read_role_policy,
    roles_of,
    rolls_by_role,
)
from kohort.simulation.modelserving.labels import REPLICAS


def find_trouble(scene: Scene) -> str:
    """What is not as it was asked for; empty if all is."""
    workload = scene.truth.workload
    assert workload is not None
    for trouble in _list_troubles(scene, workload):
        return trouble
    return ""


def _list_troubles(scene: Scene, workload: Object) -> Iterator[str]:
    groups, policy = scene.truth.groups(), read_policy(workload)
    if list_hopeless(scene.truth):
        yield from _list_in_objects(scene, groups)
        return
    ready = [group.ordinal for group in groups if group.is_ready]
    if not len(groups) == len(ready) == policy.wanted:
        yield f"groups {[g.ordinal for g in groups]}, of which {ready} serve, not {policy.wanted}"
    for place, group in enumerate(groups):
        assert isinstance(group, ServingGroup)
        yield from _list_in_group(workload, group, is_kept=place < policy.partition)
    yield from _list_in_objects(scene, groups)
    yield from _list_untold(workload, groups)
    yield from _list_in_status(scene, workload, groups)
    yield from _list_in_conditions(scene, workload)


def _list_in_group(workload: Object, group: ServingGroup, *, is_kept: bool) -> Iterator[str]:
    by_role = rolls_by_role(workload)
    for role in roles_of(workload):
        instances, policy = group.instances.get(role["name"], []), read_role_policy(role)
        name = f"group {group.ordinal} role {role['name']}"
        if len(instances) != policy.wanted or not all(i.is_ready for i in instances):
            yield f"{name} has {len(instances)} instances, not {policy.wanted} that serve"
        for place, instance in enumerate(instances):
            is_protected = place < policy.partition if by_role else is_kept
            if not is_protected and is_old(instance, workload["spec"]):
                images = sorted({image_of(pod) for pod in instance.members})
                yield f"{name} instance {instance.ordinal} is old: {images}"
    if len(group.instances) > len(roles_of(workload)):
        yield f"group {group.ordinal} has roles {sorted(group.instances)}"


def _list_in_objects(scene: Scene, groups: list[Group]) -> Iterator[str]:
    truth = scene.truth
    members = {pod["metadata"]["name"] for group in groups for pod in group.members}
    if more := set(truth.objects[kinds.POD]) - members:
        yield f"pods {sorted(more)} belong to no group"
    if moved := [n for n, p in truth.objects[kinds.POD].items() if _uid(p) in truth.marks.moved]:
        yield f"pods {sorted(moved)} have labels of another place"
    services = {name for group in groups for pod in group.members for name in list_services(pod)}
    if set(truth.objects[kinds.SERVICE]) != services:
        found = sorted(truth.objects[kinds.SERVICE])
        yield f"services {found}, not {sorted(services)}"
    keys = {
        truth.simulated.labels.revision_of(r)
        for r in truth.objects[kinds.CONTROLLER_REVISION].values()
    }
    used = {revision for group in groups for revision in group.revisions}
    if not used <= keys | _list_forgotten(scene, groups):
        yield f"revisions {sorted(keys)}, and pods of {sorted(used)}"
    if more_kinds := [kind.name for kind in CHILDREN if kind not in _MADE and truth.objects[kind]]:
        yield f"there are {more_kinds}"


def _list_forgotten(scene: Scene, groups: list[Group]) -> set[str]:
    """
    Revisions that a client may have deleted, and that the rollout leaves in use.

    Those are of units that a partition keeps and, where roles roll by themselves, of instances
    of roles that are the same in both revisions.
    """
    kind, workload = kinds.CONTROLLER_REVISION.name, scene.truth.workload
    if all((f.name, f.value) != ("delete-child", kind) for f in scene.scenario.faults):
        return set()
    units = list(list_kept(scene.truth))
    if workload is not None and rolls_by_role(workload):
        found = [
            i
            for g in groups
            if isinstance(g, ServingGroup)
            for own in g.instances.values()
            for i in own
        ]
        units += [instance for instance in found if not is_old(instance, workload["spec"])]
    return {revision for unit in units for revision in unit.revisions}


_MADE = (kinds.POD, kinds.SERVICE, kinds.CONTROLLER_REVISION)


def _list_untold(workload: Object, groups: list[Group]) -> Iterator[str]:
    """Breaches: pods whose annotation has another number of groups than the spec."""
    wanted = str(read_policy(workload).wanted)
    for pod in (pod for group in groups for pod in group.members):
        if annotations_of(pod).get(REPLICAS) != wanted:
            yield f"pod {pod['metadata']['name']} says {annotations_of(pod).get(REPLICAS)} replicas"


def _uid(obj: Object) -> str:
    uid: str = obj["metadata"]["uid"]
    return uid


def _list_in_status(scene: Scene, workload: Object, groups: list[Group]) -> Iterator[str]:
    status, policy = workload.get("status") or {}, read_policy(workload)
    if status.get("observedGeneration") != workload["metadata"]["generation"]:
        yield "the status is of an old generation"
    counts = [status.get(key, 0) for key in ("replicas", "availableReplicas")]
    updated = sum(not is_old(group, workload["spec"]) for group in groups)
    said = status.get("updatedReplicas", 0)
    # A group below the partition has no revision while its label is a user's.
    doubtful = sum(unit.is_edited for unit in list_kept(scene.truth))
    is_right = updated - doubtful <= said <= updated
    if counts != [policy.wanted, policy.wanted] or not is_right:
        yield f"the status counts {counts}, {said} of them updated, not {updated}"


def _list_in_conditions(scene: Scene, workload: Object) -> Iterator[str]:
    status = workload.get("status") or {}
    true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    kept = [unit for unit in list_kept(scene.truth) if unit.is_edited]
    members = [pod for unit in kept for pod in unit.members]
    wanted = {"Available"}
    if any(_uid(pod) in scene.truth.marks.replaced for pod in members):
        wanted.add("Drifted")
    elif kept:
        # The condition may be there or not: pods whose role hash is right do not count as drifted.
        true.discard("Drifted")
    if true != wanted:
        yield f"conditions {sorted(true)}, not {sorted(wanted)}"
