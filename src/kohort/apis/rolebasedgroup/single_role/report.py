"""Statuses of RoleInstanceSets and RoleInstances without a group: the same as within one."""

from kohort.apis.api import Reading, Snapshot
from kohort.apis.references import Projection
from kohort.apis.rolebasedgroup import labels, report
from kohort.apis.rolebasedgroup.read import Memory
from kohort.apis.rolebasedgroup.roles import as_map
from kohort.apis.rolebasedgroup.single_role.facts import add_root
from kohort.apis.rolebasedgroup.status import write_instance_status
from kohort.cluster.objects import Object
from kohort.model.plans import Plan

_COUNTS = (
    "replicas",
    "readyReplicas",
    "availableReplicas",
    "currentReplicas",
    "updatedReplicas",
    "updatedReadyReplicas",
)


def start_set_status(root: Object) -> Object:
    """The counts that the API server requires in the status of a set."""
    return dict.fromkeys(_COUNTS, 0)


def write_set_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """The status of a set."""
    found = report.list_projections(add_root(snapshot), reading, plan, now)
    return next(each.status for each in found if each.kind == labels.INSTANCE_SET)


def list_instances(
    snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str
) -> tuple[Projection, ...]:
    """The statuses of a set's instances."""
    return report.list_projections(snapshot, reading, plan, now)


def write_status(snapshot: Snapshot, reading: Reading[Memory], plan: Plan, now: str) -> Object:
    """
    The status of an instance; its conditions follow when it is ready for the first time.

    Until the revision that the user asks for is stored, the instance is read with the last one. So
    that status has not observed the new spec: clients, and the operator itself, would take pods of
    the last revision for updated.
    """
    (role,) = reading.memory.facts.roles.values()
    (instance,) = reading.memory.instances[role.spec.name].values()
    state = report.read_state(reading, role, 0, instance)
    status = write_instance_status(snapshot.root, state, now)
    if not role.is_stored and role.stored:
        observed = as_map(snapshot.root.get("status")).get("observedGeneration")
        status = {**status, "observedGeneration": observed or 0}
    if state.unready and not instance.status.has_ready:
        # What the operator says of every workload, such as that it stalls, stays.
        kept = as_map(snapshot.root.get("status")).get("conditions") or []
        status = {**status, "conditions": kept}
    return status
