"""
The report: counts and claims, all taken from one snapshot.

Surge groups count as existing, ready and updated, but never towards the claim
that the workload is available: that is about the groups the user asked for. A
group of which half the objects are missing is not counted at all.
"""

from kohort.model.observed import Instance, Observed, RoleInstances
from kohort.model.plans import LineReport, Report
from kohort.model.reasons import Blocker
from kohort.model.units import Phase
from kohort.model.workload import Workload


def plan_report(
    workload: Workload, observed: Observed, blockers: tuple[Blocker, ...] = ()
) -> Report:
    """What is true of a workload in this snapshot."""
    policy = workload.rollout
    whole = [group for group in observed.groups if group.is_whole]
    wanted = [group for group in whole if group.ordinal < workload.groups]
    rolled = [group for group in wanted if group.ordinal >= policy.partition]
    updated = [group for group in rolled if group.revision == workload.revision]
    done = sum(_is_ready(group) for group in updated)
    ready = sum(_is_ready(group) for group in wanted)
    is_updating = len(updated) < len(rolled)
    return Report(
        groups=observed.exist,
        groups_ready=sum(_is_ready(group) for group in whole),
        groups_updated=sum(group.revision == workload.revision for group in whole),
        wanted=workload.groups,
        wanted_ready=ready,
        rolled=len(rolled),
        rolled_updated=len(updated),
        rolled_ready=done,
        is_updating=is_updating,
        is_available=not is_updating and ready == workload.groups and done == len(rolled),
        is_done=policy.partition == 0 and done == workload.groups and _is_over(workload, observed),
        blockers=blockers,
        losses=workload.placement.losses,
        ignored=workload.placement.ignored,
        drift=observed.drift,
        roles={role.name: _count_role(role.name, observed) for role in workload.roles if role.name},
    )


def _count_role(name: str, observed: Observed) -> LineReport:
    """A role over all groups."""
    wanted = exist = ready = updated = updated_ready = 0
    for group in observed.groups:
        for held in group.roles:
            if held.role != name:
                continue
            wanted += held.wanted
            if held.tally is not None:
                exist += held.tally.exist
                ready += held.tally.ready
                updated += held.tally.updated
                updated_ready += held.tally.updated_ready
            for instance in held.instances:
                is_updated, is_ready = instance.revision == held.revision, _is_ready(instance)
                exist += 1
                ready += is_ready
                updated += is_updated
                updated_ready += is_updated and is_ready
    return LineReport(wanted, exist, ready, updated, updated_ready)


def _is_over(workload: Workload, observed: Observed) -> bool:
    """
    Whether nothing is left of another revision: no group, surge included, nor the aim itself.

    A group that the carrier counts and that was not seen yet may be of any. Where groups never
    roll, their roles do, and the group is done when all of them are.
    """
    progress, target = observed.progress, workload.revision
    if progress is not None and progress.target != target:
        return False
    if observed.exist > len(observed.groups):
        return False
    if not workload.has_rollout and not all(
        _is_on_target(role) for group in observed.groups for role in group.roles
    ):
        return False
    return all(group.revision == target for group in observed.groups)


def _is_on_target(role: RoleInstances) -> bool:
    """Whether exactly the instances that are wanted exist, ready and of the role's revision."""
    if role.tally is not None:
        return role.is_whole and role.tally.updated >= role.wanted
    return role.is_whole and all(i.revision == role.revision for i in role.instances)


def _is_ready(group: Instance) -> bool:
    return group.phase is Phase.READY
