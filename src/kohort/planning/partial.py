"""
Groups that serve with some of their instances, although they are not ready.

A strategy replaces an old unit that is not ready at once and for free, since it serves no traffic.
A group with instances of roles may serve all the same: it scales up, or one instance of several has
failed. A user who gives a new template and a higher count in one edit has only such groups. So they
go one by one, as long as enough others serve: available groups, and those that serve like this one.
A new group counts only once it is available. A group that does not serve at all stays free.
"""

from dataclasses import replace

from kohort.model.observed import Group
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.reasons import Blocker, count
from kohort.model.units import Phase, Unit
from kohort.planning.lines import LineState


def spare_partial(
    rollout: Rollout, state: LineState, units: tuple[Unit, ...], policy: RolloutPolicy
) -> Rollout:
    """The step, with no more groups replaced that still serve than the budget allows."""
    partial = {unit.ordinal for unit in state.units if _serves_partly(unit)}
    going = [o for o in rollout.replace if o in partial and o < rollout.count]
    if not going:
        return rollout
    serving = {unit.ordinal for unit in units if unit.is_available}
    serving = {o for o in serving if o < rollout.count}.difference(rollout.replace)
    serving |= {ordinal for ordinal in partial if ordinal < rollout.count}
    left = max(0, len(serving) - policy.ready_min)
    spared = set(going[left:])
    kept = tuple(ordinal for ordinal in rollout.replace if ordinal not in spared)
    if kept or not spared or rollout.blocker is not None:
        return replace(rollout, replace=kept)
    stale = sum(unit.revision != state.target for unit in state.units)
    message = (
        f"{stale} of {policy.wanted} groups wait for the new revision: "
        f"{count(len(spared), 'group serves', 'groups serve')} with some instances, and "
        f"maxUnavailable is {policy.max_unavailable}"
    )
    blocker = Blocker("WaitingForReady", message, tuple(sorted(spared)))
    return replace(rollout, replace=kept, blocker=blocker)


def _serves_partly(unit: object) -> bool:
    return isinstance(unit, Group) and unit.serves_partly and unit.phase is not Phase.LEAVING
