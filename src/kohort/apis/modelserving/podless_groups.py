"""Groups of a ModelServing that want no pod: no object tells of them, and they are there."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice

from kohort.apis.modelserving.groups import Context
from kohort.model.observed import Group, RoleInstances
from kohort.model.units import Phase


def list_podless(
    context: Context, new_roles: Mapping[str, tuple[RoleInstances, ...]], known: Collection[int]
) -> Iterator[Group]:
    """
    The groups that exist although no pod tells of them: all their roles are scaled to none.

    A group that wants no pod lacks none, so it is ready, and there is nothing to make. Where the
    revision that a partition keeps still wants pods, a group without any is one to make.
    """
    wants = {revision: any(r.wanted for r in roles) for revision, roles in new_roles.items()}
    if all(wants.values()):
        return
    free = (ordinal for ordinal in range(context.spec.replicas) if ordinal not in known)
    for ordinal in islice(free, max(0, context.spec.replicas - len(known))):
        # Below a missing ordinal none is free for another group: so it is the group's place, too.
        is_kept = bool(context.base) and ordinal < (context.spec.partition or 0)
        revision = context.base if is_kept else context.target.revision
        if wants[revision]:
            if not is_kept:
                return
            continue
        yield Group(
            ordinal, revision, Phase.READY, incarnation="", size=0, roles=new_roles[revision]
        )
