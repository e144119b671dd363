"""
The revision of the instances that the partition of a role keeps, where roles roll by themselves.

Such an instance that is lost comes back from the template that it had. When it is gone, no pod
may tell that template any more; nor does the status, which names one revision for all roles. So the
revision in force notes it for each role that has a partition. A note is written while instances
tell it, and holds while none does.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kohort.apis.modelserving.adoption import TargetRevision
from kohort.apis.modelserving.groups import Context
from kohort.apis.modelserving.revision import StoredTemplate
from kohort.cluster.objects import Object
from kohort.model.observed import Group, Instance, RoleInstances
from kohort.model.units import Phase


def read_kept(
    serving: Object, stored: Sequence[StoredTemplate], target: TargetRevision
) -> Mapping[str, str]:
    """
    The noted revision of kept instances, by role.

    It stands on the revision that the last status names. When the user goes back, the older
    revision has a note of long ago until the operator has written it anew.
    """
    reported = str((serving.get("status") or {}).get("updateRevision") or "")
    notes = {template.revision: template.kept for template in stored}
    return notes.get(reported, notes.get(target.revision, {}))


def find_kept(context: Context, groups: Iterable[Group]) -> dict[str, str]:
    """The revision to note for each role: the known one while an instance has it or none tells."""
    partitions = {role.name: role.partition or 0 for role in context.spec.roles}
    if not context.rolls_by_role or not any(partitions.values()):
        return {}
    told: dict[str, list[str]] = {name: [] for name in partitions}
    for group in groups:
        for held in group.roles:
            if partition := partitions.get(held.role, 0):
                told[held.role] += _list_told(context, held, partition)
    found = {}
    for name, partition in partitions.items():
        if partition:
            known = context.find_base(name) or context.target.revision
            found[name] = known if known in told[name] or not told[name] else told[name][0]
    return found


def _list_told(context: Context, held: RoleInstances, partition: int) -> Iterator[str]:
    """The revisions that the kept instances of one role in one group tell."""
    free = {instance.ordinal for instance in held.list_unprotected(partition)}
    for instance in held.instances:
        is_kept = instance.ordinal not in free and instance.phase is not Phase.LEAVING
        if is_kept and not instance.is_edited and (key := _find_told(context, held, instance)):
            yield key


def _find_told(context: Context, held: RoleInstances, instance: Instance) -> str:
    if instance.revision == held.revision:
        return context.target.revision
    told = (member.revision for member in instance.members)
    return next((key for key in told if key in context.templates), "")
