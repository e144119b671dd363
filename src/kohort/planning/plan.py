"""The order of the phases of a plan, and nothing else."""

from dataclasses import replace

from kohort.model.observed import Observed, Progress
from kohort.model.plans import Plan, Rollout
from kohort.model.reasons import Blocker, count
from kohort.model.workload import Workload
from kohort.planning.placement import plan_gangs
from kohort.planning.recovery import plan_recovery
from kohort.planning.rollout import STRATEGIES
from kohort.planning.served import find_served
from kohort.planning.startup import plan_startup
from kohort.planning.status import plan_report


def plan(workload: Workload, observed: Observed) -> Plan:
    """What to do about a workload now, and what to say of it."""
    strategy = STRATEGIES[workload.rollout.strategy]
    rollout = strategy(observed.units, observed.progress, workload.revision, workload.rollout)
    rollout = _wait_for_carrier(rollout, observed.progress, workload.revision)
    restarts = plan_recovery(workload, observed)
    blockers = _blockers(workload, observed, rollout)
    return Plan(
        rollout=rollout,
        report=plan_report(workload, observed, blockers),
        restarts=restarts,
        may_complete=plan_startup(workload, observed),
        gangs=plan_gangs(workload, observed),
        served=find_served(workload, observed),
    )


def _wait_for_carrier(rollout: Rollout, progress: Progress | None, target: str) -> Rollout:
    """
    The boundary stays until the carrier has acted on the last one.

    Until then nobody knows which units are old: a template may have changed
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
