"""The order of the phases of a plan, and nothing else."""

from collections.abc import Iterable
from dataclasses import replace

from kohort.model.observed import Observed, Progress
from kohort.model.plans import Plan, Rollout
from kohort.model.reasons import Blocker, count
from kohort.model.workload import Workload
from kohort.planning.availability import Availability, judge_availability
from kohort.planning.edited import spare_edited
from kohort.planning.placement import plan_gangs
from kohort.planning.recovery import Recovery, explain_waits, plan_recovery
from kohort.planning.rollout import STRATEGIES
from kohort.planning.rollout.hold import (
    UntrustedUnit,
    explain_hold,
    find_trust_waits,
    find_untrusted,
    hold_policy,
    hold_rollout,
)
from kohort.planning.served import find_served
from kohort.planning.startup import plan_startup
from kohort.planning.status import plan_report


def plan(workload: Workload, observed: Observed, now: float) -> Plan:
    """What to do about a workload at this moment, what to say of it, and when to look again."""
    strategy, progress = STRATEGIES[workload.rollout.strategy], observed.progress
    availability = judge_availability(workload, observed, now)
    untrusted = find_untrusted(workload, observed, now)
    policy = hold_policy(workload.rollout, progress, untrusted)
    rollout = strategy(availability.units, progress, workload.revision, policy)
    rollout = _wait_for_carrier(rollout, progress, workload.revision)
    rollout = spare_edited(rollout, observed, availability.units, policy)
    rollout = _leave_surplus(hold_rollout(rollout, progress, policy, untrusted))
    recovery = plan_recovery(workload, observed, now)
    blockers = (
        *_find_holds(workload, observed, rollout, untrusted),
        *explain_waits(recovery),
        *_blockers(workload, observed, rollout),
    )
    return Plan(
        rollout=rollout,
        report=plan_report(workload, observed, blockers),
        restarts=tuple(r for r in recovery.restarts if r.ordinal < rollout.count),
        may_complete=plan_startup(workload, observed),
        gangs=plan_gangs(workload, observed),
        served=find_served(workload, observed),
        backing_off=recovery.recorded | recovery.waits.keys(),
        failures=recovery.failures,
        recheck_seconds=_find_recheck(
            availability, untrusted, recovery, find_trust_waits(observed, now)
        ),
    )


def _leave_surplus(rollout: Rollout) -> Rollout:
    """
    The step without deletes of groups beyond its count, which lowering the count takes down.

    Who goes because there are too many is taken down together with what is its own: its claims
    go or stay as the user said. Taken down as an old or a failed one, it would leave them behind.
    """
    kept = tuple(ordinal for ordinal in rollout.replace if ordinal < rollout.count)
    return replace(rollout, replace=kept)


def _find_recheck(
    availability: Availability,
    untrusted: tuple[UntrustedUnit, ...],
    recovery: Recovery,
    trust_waits: Iterable[float],
) -> float | None:
    """When the next wait is over, if time alone ends one."""
    waits = [*availability.waits.values(), *recovery.waits.values(), *trust_waits]
    waits += [unit.wait for unit in untrusted if unit.wait is not None]
    return min(waits, default=None)


def _find_holds(
    workload: Workload, observed: Observed, rollout: Rollout, untrusted: tuple[UntrustedUnit, ...]
) -> tuple[Blocker, ...]:
    """That the rollout holds, if there is still something to roll."""
    policy = workload.rollout
    stale = [
        group
        for group in observed.groups
        if group.revision != workload.revision and policy.partition <= group.ordinal < policy.wanted
    ]
    if not untrusted or (not stale and rollout.count <= policy.wanted):
        return ()
    is_repeated = bool(stale) and all(group.is_edited for group in stale)
    return (explain_hold(untrusted, is_repeated=is_repeated),)


def _wait_for_carrier(rollout: Rollout, progress: Progress | None, target: str) -> Rollout:
    """
    The boundary stays until the carrier has acted on the last one.

    Until then it is not known which units are old: a template may have changed
    although its revision did not.
    """
    if progress is None or progress.is_seen or progress.target != target:
        return rollout
    return replace(rollout, boundary=max(rollout.boundary, progress.boundary))


def _blockers(workload: Workload, observed: Observed, rollout: Rollout) -> tuple[Blocker, ...]:
    found = [rollout.blocker] if rollout.blocker else []
    waiting = tuple(
        member.name for group in observed.groups for member in group.members if member.is_pending
    )
    missing = workload.groups - sum(g.ordinal < workload.groups for g in observed.groups)
    if waiting:
        found.append(
            Blocker(
                reason="WaitingForMembers",
                message=f"{count(len(waiting), 'member has', 'members have')} not started: "
                + ", ".join(waiting[:3])
                + (" and more" if len(waiting) > 3 else ""),
                members=waiting,
            )
        )
    elif missing > 0 and observed.progress is not None:
        found.append(
            Blocker("WaitingForGroups", f"{missing} of {workload.groups} groups do not exist yet")
        )
    return tuple(found)
