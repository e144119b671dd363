"""
The PodGroup of a group: how many pods are placed together, and by which scheduler.

All pods of all roles count, those of every component among them; upstream counts instances of
custom components as one pod. A role that may not begin yet has no pods, so it does not count until
it begins: else pods that wait for it would never be placed.
"""

from collections.abc import Collection, Mapping

from kohort.apis.gangs.definitions.coscheduling import POD_GROUP as PLUGINS_GROUP
from kohort.apis.gangs.dialects.volcano import POD_GROUP as VOLCANO_GROUP
from kohort.apis.rolebasedgroup import names
from kohort.apis.rolebasedgroup.objects.templates import SCHEDULER_PLUGINS, VOLCANO
from kohort.apis.rolebasedgroup.spec import GroupSpec
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    name_of,
    namespace_of,
    owner_reference,
)

KINDS: Mapping[str, Kind] = {SCHEDULER_PLUGINS: PLUGINS_GROUP, VOLCANO: VOLCANO_GROUP}
_COPIED = {SCHEDULER_PLUGINS: "scheduling.x-k8s.io/", VOLCANO: "scheduling.volcano.sh/"}


def count_members(
    spec: GroupSpec, waiting: Collection[str] = (), replicas: Mapping[str, int] | None = None
) -> int:
    """The pods that are placed together: of all roles but those that wait to begin."""
    asked = replicas or {}
    return sum(
        role.size * asked.get(role.name, role.replicas)
        for role in spec.roles
        if role.name not in waiting
    )


def make_pod_group(group: Object, spec: GroupSpec, scheduler: str, members: int) -> Object:
    """The PodGroup in the words of one scheduler."""
    kind, prefix = KINDS[scheduler], _COPIED[scheduler]
    metadata: Object = {
        "name": names.config_name(name_of(group)),
        "namespace": namespace_of(group),
        "ownerReferences": [owner_reference(group)],
    }
    copied = {key: value for key, value in annotations_of(group).items() if key.startswith(prefix)}
    if copied:
        metadata["annotations"] = copied
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": metadata,
        "spec": {"minMember": members, **_write_clauses(spec, scheduler)},
    }


def _write_clauses(spec: GroupSpec, scheduler: str) -> Object:
    if scheduler == SCHEDULER_PLUGINS:
        return {"scheduleTimeoutSeconds": spec.gang.timeout_seconds}
    clauses: Object = {}
    if spec.gang.queue:
        clauses["queue"] = spec.gang.queue
    if spec.gang.priority_class:
        clauses["priorityClassName"] = spec.gang.priority_class
    return clauses
