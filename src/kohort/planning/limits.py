"""
Limits: how far rules over roles let one line be updated in this step.

A rule says how many units may have the target revision. That limits the old units that may go and
the surge that may come, and it is also why a missing unit is made from the revision before: a line
that loses old units, or all of its units, must not come back further ahead than it may go.
"""

from dataclasses import dataclass, replace

from kohort.model.plans import Rollout
from kohort.model.units import Phase, Reach
from kohort.planning.bounds import Bounds
from kohort.planning.lines import LineState
from kohort.planning.scale import count_lost, find_stale


@dataclass(frozen=True, slots=True)
class Limits:
    """How many units of a line the rules over roles allow to be updated now."""

    given_up: int  # old units that may go, plus surge units that may come
    kept_old: int  # missing units that must be made from the old revision


def find_limits(state: LineState, bounds: Bounds) -> Limits | None:
    """How far rules over roles let this line be updated; None: no rule limits it."""
    if bounds.updated_max is None or state.reach is not Reach.ANY:
        return None
    policy = state.rollout
    stale = sum(unit.phase is not Phase.LEAVING for unit in find_stale(state))
    most = bounds.updated_max
    # A rule lets the slowest line have one more, which it may have when others are slower again.
    if not stale and not count_lost(state.units, policy, state.target, state.base, most + 1):
        return None
    goal = max(0, policy.wanted - policy.partition)
    stay = max(0, goal - most)
    # A deleted old unit counts as updated at once, since the operator recreates it updated.
    return Limits(max(0, stale - stay), max(0, stay - stale))


def limit_updates(state: LineState, rollout: Rollout, limits: Limits | None) -> Rollout:
    """The step with no more replaced units and no more surge than the rules allow."""
    if limits is None:
        return rollout
    exist = state.progress.count if state.progress else state.wanted
    extra = max(0, min(rollout.count - exist, limits.given_up))
    kept = rollout.replace[: limits.given_up - extra]
    count = min(rollout.count, max(exist, state.wanted) + extra)
    # Where the budget would pay for more units, it is the rule that holds, and the rule says so.
    blocker = rollout.blocker if len(kept) == len(rollout.replace) else None
    return replace(rollout, replace=kept, count=count, blocker=blocker)
