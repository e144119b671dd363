"""
The report on a workload: how many groups and instances exist, are ready and are updated, and
whether the workload is available, updates, or has finished its rollout.

All of it follows from one snapshot. Surge groups count as existing, ready and updated, but
whether the workload is available depends on the wanted groups alone. A group of which only the
entry was made is not counted at all.
"""

from kohort.model.observed import Group, Instance, Observed, RoleInstances
from kohort.model.plans import LineReport, Report
from kohort.model.reasons import Blocker
from kohort.model.units import Phase
from kohort.model.workload import Role, Workload


def plan_report(
    workload: Workload, observed: Observed, blockers: tuple[Blocker, ...] = ()
) -> Report:
    """The report on a workload in this snapshot."""
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
        is_updating=is_updating,
        is_available=not is_updating and ready == workload.groups and done == len(rolled),
        is_done=policy.partition == 0 and done == workload.groups and _is_over(workload, observed),
        blockers=blockers,
        losses=workload.placement.losses,
        ignored=workload.placement.ignored,
        drift=observed.drift,
        roles={r.name: _report_role(workload, r, observed) for r in workload.roles if r.name},
        rolled_ready=done,
    )


def _report_role(workload: Workload, role: Role, observed: Observed) -> LineReport:
    """
    The counts of a role over all groups; a missing wanted group lacks all its instances.

    A role without a rollout of its own is updated when its group is.
    """
    wanted = exist = ready = updated = updated_ready = missing = 0
    is_updating = is_short = False
    for group in observed.groups:
        is_wanted = group.ordinal < workload.groups
        missing -= is_wanted
        for held in group.roles:
            if held.role != role.name:
                continue
            is_old = role.rollout is None and group.revision != workload.revision
            own_ready, own_updated, own_done = _count_units(held, is_old)
            exist += held.tally.exist if held.tally else len(held.instances)
            ready += own_ready
            updated += own_updated
            updated_ready += own_done
            if is_wanted:
                wanted += held.wanted
                is_updating |= _is_behind(workload, role, group, held)
                is_short |= own_ready < held.wanted
    missing += workload.groups
    return LineReport(
        wanted + missing * role.instances,
        exist,
        ready,
        updated,
        updated_ready,
        is_updating,
        is_available=not (is_updating or is_short or missing),
    )


def _count_units(held: RoleInstances, is_old: bool) -> tuple[int, int, int]:
    """How many instances of a role in one group are ready, are updated, and are both."""
    if held.tally is not None:
        updated = (0, 0) if is_old else (held.tally.updated, held.tally.updated_ready)
        return held.tally.ready, *updated
    ready = sum(_is_ready(instance) for instance in held.instances)
    if is_old:
        return ready, 0, 0
    new = [instance for instance in held.instances if instance.revision == held.revision]
    return ready, len(new), sum(_is_ready(instance) for instance in new)


def _is_behind(workload: Workload, role: Role, group: Group, held: RoleInstances) -> bool:
    """Whether a group has old instances of a role above the partition."""
    if role.rollout is None:
        is_protected = group.ordinal < workload.rollout.partition
        return group.revision != workload.revision and not is_protected
    if held.tally is not None:
        return not held.is_updated
    unprotected = held.list_unprotected(role.rollout.partition)
    return any(instance.revision != held.revision for instance in unprotected)


def _is_over(workload: Workload, observed: Observed) -> bool:
    """
    Whether all groups, surge included, and the rollout's recorded target have the revision.

    A group that the carrier counts but the cache does not have yet may be of any revision. Where
    groups never roll, their roles do, and a group is done when all its roles are.
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
    """Whether exactly the wanted number of instances exists, all ready and up to date."""
    if role.tally is not None:
        return role.is_whole and role.tally.is_told and role.tally.updated >= role.wanted
    return role.is_whole and all(i.revision == role.revision for i in role.instances)


def _is_ready(group: Instance) -> bool:
    return group.phase is Phase.READY
