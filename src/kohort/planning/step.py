"""
The step of one line: which units to make, take down and change now, and why no more.

All rules about one line come together here, in a fixed order: which units are available,
what the rules over roles allow, what the strategy releases, what a hold keeps, which units have
failed. A carrier that takes numbers reads them from the rollout; a carrier that makes units
itself does what ``make``, ``retire`` and ``amend`` say, and nothing else.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kohort.model.observed import Instance, Progress
from kohort.model.plans import Cause, Make, Restart, Retirement, Rollout, Step
from kohort.model.policies import Amendment, RolloutPolicy, Victims
from kohort.model.reasons import Blocker, count
from kohort.model.units import Phase, Reach, Unit
from kohort.planning.availability import Availability, judge_availability
from kohort.planning.bounds import NO_BOUNDS, Bounds
from kohort.planning.edited import spare_edited
from kohort.planning.growth import limit_growth
from kohort.planning.hooks import count_out, wait_for_hooks
from kohort.planning.limits import find_limits, limit_updates
from kohort.planning.lines import LineState
from kohort.planning.order import keep_order
from kohort.planning.partial import spare_partial
from kohort.planning.parts import explain_parts, plan_parts
from kohort.planning.recovery import Recovery, explain_waits, find_ended, plan_recovery
from kohort.planning.rollout import find_strategy
from kohort.planning.rollout.abandoned import renew_abandoned
from kohort.planning.rollout.hold import (
    UntrustedUnit,
    explain_hold,
    find_trust_waits,
    find_untrusted,
    hold_policy,
    hold_rollout,
    shrink_line,
)
from kohort.planning.scale import MAKE_MAX, Ranks, find_stale, rank_units, spare_alike
from kohort.planning.startup import plan_startup


def plan_step(state: LineState, now: float, bounds: Bounds = NO_BOUNDS) -> Step:
    """What to do about one line now, and when to plan again without an event."""
    if state.reach is Reach.COUNT:
        return _count(state, bounds)
    state = _narrow(state, bounds)
    if state.reach is not Reach.ANY:
        return _decide(state, now, bounds)
    state = replace(state, units=tuple(map(count_out, state.units)))
    ranks = rank_units(state)
    step = _number_back(_decide(ranks.state, now, bounds), ranks)
    step = keep_order(step, state, ranks.ordinals[ranks.state.wanted :])
    return wait_for_hooks(step, state)


def _narrow(state: LineState, bounds: Bounds) -> LineState:
    """The line with its policy narrowed by rules over roles; rules delete no existing unit."""
    policy = state.rollout
    if bounds.count_max is not None and bounds.count_max < policy.wanted:
        live = sum(unit.phase is not Phase.LEAVING for unit in state.units)
        wanted = min(policy.wanted, max(bounds.count_max, live))
        # The number of units that must stay ready is still the user's.
        unavailable = max(0, policy.max_unavailable - (policy.wanted - wanted))
        policy = replace(policy, wanted=wanted, max_unavailable=unavailable)
    if bounds.updated_max is not None and state.reach is not Reach.ANY:
        partition = max(policy.partition, policy.wanted - bounds.updated_max)
        policy = replace(policy, partition=partition)
    return state if policy is state.rollout else replace(state, rollout=policy)


def _count(state: LineState, bounds: Bounds) -> Step:
    """The count and partition to set where another controller makes the units of the line."""
    policy, tally = state.rollout, state.tally
    count = policy.wanted
    if bounds.count_max is not None:
        count = min(count, max(bounds.count_max, tally.exist if tally else 0))
    boundary = policy.partition
    if bounds.updated_max is not None:
        boundary = max(boundary, count - bounds.updated_max)
    held = tally.boundary if tally and tally.is_told else None
    is_growing = tally and tally.is_current and count > tally.wanted and tally.updated < tally.exist
    if tally and held is not None and not is_growing:
        # Each write makes the status outdated for a moment, in which it counts nothing as updated.
        # Rules would take that for progress lost: a boundary is raised for one template only with
        # the count, and it stays where it is until the other controller has seen it.
        boundary = max(policy.partition, min(boundary, held) if tally.is_seen else held)
    if policy.is_paused and (held is None or tally is None or tally.is_seen):
        # The updated units are the highest ones, which a lower count takes down.
        exist, updated = (tally.exist, tally.updated) if tally else (0, 0)
        boundary = max(boundary, min(count, max(count, exist) - updated))
    return Step(state.line, Rollout(boundary, count), wanted=count, blockers=bounds.blockers)


def _decide(state: LineState, now: float, bounds: Bounds) -> Step:
    availability = judge_availability(state, now)
    untrusted = find_untrusted(state, now)
    rollout = _cap_alike(_roll(state, availability.units, untrusted), state)
    recovery = plan_recovery(state, now)
    restarts = tuple(r for r in recovery.restarts if r.ordinal < rollout.count)
    backing_off = recovery.recorded | recovery.waits.keys()
    if not untrusted:
        failed = backing_off.union(restart.ordinal for restart in restarts)
        rollout = renew_abandoned(rollout, state, availability.units, failed)
    may_complete = plan_startup(state)
    limits = find_limits(state, bounds)
    rollout = limit_updates(state, rollout, limits)
    amend, kept = _find_amendments(state, rollout, restarts)
    rollout = replace(rollout, replace=kept)
    surplus = spare_alike(state, rollout.replace, _find_surplus(state, rollout))
    retire = tuple(_find_retirements(state, rollout, restarts, surplus))
    staying = may_complete.difference(retirement.ordinal for retirement in retire)
    make = tuple(_find_makes(state, rollout, limits.kept_old if limits else 0))
    make, growing = limit_growth(make, state, availability.units)
    waiting_parts = plan_parts(state, (new.ordinal for new in make))
    return Step(
        line=state.line,
        rollout=rollout,
        wanted=state.wanted,
        make=make,
        retire=retire,
        surplus=surplus,
        amend=amend,
        restarts=restarts,
        may_complete=may_complete,
        renew=find_ended(state, staying - backing_off),
        waiting_parts=waiting_parts,
        backing_off=backing_off,
        failures=recovery.failures,
        blockers=(
            *_find_holds(state, rollout, untrusted),
            *explain_waits(recovery, state),
            *_find_waits(state, rollout),
            *bounds.blockers,
            *_find_stuck(state),
            *growing,
            *explain_parts(state, {o: waiting_parts[o] for o in staying & waiting_parts.keys()}),
        ),
        recheck_seconds=_find_recheck(
            availability, untrusted, recovery, (*find_trust_waits(state, now), *_wakes(state, now))
        ),
    )


def _roll(
    state: LineState, units: tuple[Unit, ...], untrusted: tuple[UntrustedUnit, ...]
) -> Rollout:
    """The strategy's step, limited by pause, hold, carrier and edited units."""
    progress, target = state.progress, state.target
    policy = hold_policy(state.rollout, progress, untrusted)
    stays = {unit.ordinal for unit in state.units if not _may_change(state, unit)}
    # The strategy must not replace a unit that rolls with its group or that may not change.
    units = tuple(replace(u, revision=target) if u.ordinal in stays else u for u in units)
    rollout = find_strategy(policy.strategy)(units, progress, target, policy)
    if policy.is_paused:
        asked = {unit.ordinal for unit in state.units if unit.is_unwanted}
        kept = tuple(ordinal for ordinal in rollout.replace if ordinal in asked)
        rollout = replace(rollout, replace=kept, count=_pause_count(rollout, progress, policy))
    rollout = _wait_for_carrier(rollout, progress, target)
    rollout = spare_edited(rollout, state, units, policy)
    rollout = spare_partial(rollout, state, units, policy)
    rollout = hold_rollout(rollout, progress, policy, untrusted)
    if state.reach is Reach.ANY and (state.victims is Victims.BEYOND or not rollout.replace):
        # Otherwise a unit that takes the place of a replaced old unit would count as surplus.
        rollout = shrink_line(rollout, units, policy)
    return _leave_surplus(rollout, state)


def _cap_alike(rollout: Rollout, state: LineState) -> Rollout:
    """The step with at most as many extra units as new units are missing, where units are alike."""
    if state.victims is not Victims.ALIKE:
        return rollout
    live = [unit for unit in state.units if unit.phase is not Phase.LEAVING]
    updated = sum(unit.revision == state.target for unit in live)
    missing = max(0, state.wanted - state.rollout.partition - updated)
    return replace(rollout, count=min(rollout.count, max(len(live), state.wanted + missing)))


def _pause_count(rollout: Rollout, progress: Progress | None, policy: RolloutPolicy) -> int:
    """The unit count of a paused rollout: existing surge stays, and no surge is added."""
    most = policy.wanted if progress is None else max(progress.count, policy.wanted)
    return min(max(rollout.count, policy.wanted), most)


def _leave_surplus(rollout: Rollout, state: LineState) -> Rollout:
    """
    The step without deletes of units beyond its count, which lowering the count takes down.

    When the operator deletes a surplus unit it also deletes the unit's volume claims, or keeps
    them, as the user set; when it replaces an old or failed unit it keeps the claims. So a unit
    that is about to be surplus must not go as an old one: not an old unit beyond the surge, nor
    any extra unit once no wanted unit is old. With ``NOTED`` one plan records the lower count and
    only the next plan acts on it.
    """
    end = rollout.count
    if state.reach is Reach.NOTED:
        is_rolled = all(unit.phase is Phase.LEAVING for unit in find_stale(state))
        end = min(end, state.wanted + (0 if is_rolled else state.rollout.surge))
    kept = tuple(ordinal for ordinal in rollout.replace if ordinal < end)
    return replace(rollout, replace=kept)


def _wait_for_carrier(rollout: Rollout, progress: Progress | None, target: str) -> Rollout:
    """
    The step with the old boundary until the carrier has acted on the last one.

    Until then the operator does not know which units are old: a template may have changed
    although its revision did not.
    """
    if progress is None or progress.is_seen or progress.target != target:
        return rollout
    return replace(rollout, boundary=max(rollout.boundary, progress.boundary))


def _may_change(state: LineState, unit: Instance) -> bool:
    """Whether a rollout may update this unit at all, in place or by recreating it."""
    if unit.is_unwanted:
        return True
    if not state.may_roll:
        return False
    return state.amendment is not Amendment.ONLY or unit.may_amend


def _find_stuck(state: LineState) -> tuple[Blocker, ...]:
    """Why old units stay: the rollout is paused, or they cannot be updated in place."""
    stale = find_stale(state) if state.may_roll else []
    if state.rollout.is_paused and stale:
        message = f"the rollout is paused: {len(stale)} of {state.wanted} {state.noun}s are old"
        return (Blocker("Paused", message),)
    rest = tuple(unit.ordinal for unit in stale if not _may_change(state, unit))
    if not rest:
        return ()
    message = (
        f"{count(len(rest), f'{state.noun} has', f'{state.noun}s have')} an old revision, and what "
        "changed cannot be changed in running pods: allow them to be made anew, or undo the change"
    )
    return (Blocker("InPlaceUpdateNotPossible", message, rest),)


def _find_amendments(
    state: LineState, rollout: Rollout, restarts: tuple[Restart, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The old units to update in place, and the old units to recreate."""
    if state.amendment is Amendment.NEVER:
        return (), rollout.replace
    units = {unit.ordinal: unit for unit in state.units}
    failed = {restart.ordinal for restart in restarts}
    amend = tuple(o for o in rollout.replace if o not in failed and units[o].may_amend)
    return amend, tuple(o for o in rollout.replace if o not in amend)


def _find_makes(state: LineState, rollout: Rollout, kept_old: int) -> Iterator[Make]:
    """The missing units, where the operator makes the units of this line one by one."""
    progress = state.progress
    if state.reach not in (Reach.ANY, Reach.NOTED) or progress is None:
        return
    if progress.target != state.target:
        # The operator has to record the step towards the new target first.
        return
    is_noted = state.reach is Reach.NOTED
    boundary = progress.boundary if is_noted else rollout.boundary
    end = min(progress.count, rollout.count) if is_noted else rollout.count
    held = {unit.ordinal for unit in state.units}
    base = progress.base or state.target
    missing = [ordinal for ordinal in range(end) if ordinal not in held][:MAKE_MAX]
    # Units below the boundary are old anyway, so they take no place of those that rules keep old.
    kept = set([ordinal for ordinal in missing if ordinal >= boundary][:kept_old])
    for ordinal in missing:
        is_new = ordinal >= boundary and ordinal not in kept
        yield Make(ordinal, state.target if is_new else base)


def _find_retirements(
    state: LineState, rollout: Rollout, restarts: tuple[Restart, ...], surplus: frozenset[int]
) -> Iterator[Retirement]:
    """The units to take down, each once, with the reason."""
    progress = state.progress
    if state.reach is Reach.COUNT:
        return
    if state.reach is Reach.NOTED and (progress is None or progress.target != state.target):
        return
    units = {unit.ordinal: unit for unit in state.units if unit.phase is not Phase.LEAVING}
    found = {r.ordinal: (Cause.FAILED, f"member {r.cause} failed") for r in restarts}
    for ordinal in rollout.replace:
        is_asked = ordinal in units and units[ordinal].is_unwanted
        why = "the user asks for another one" if is_asked else "it has an old revision"
        found.setdefault(ordinal, (Cause.STALE, why))
    if state.reach is not Reach.SUFFIX:
        why = f"there are more {state.noun}s than wanted"
        found |= dict.fromkeys(surplus, (Cause.SURPLUS, why))
        found = dict(sorted(found.items()))
    for ordinal, (cause, why) in found.items():
        if ordinal in units:
            yield Retirement(ordinal, units[ordinal].incarnation, cause, why)


def _find_surplus(state: LineState, rollout: Rollout) -> frozenset[int]:
    """The units beyond the count; with ``NOTED``, beyond the recorded count as well."""
    noted = state.progress.count if state.progress and state.reach is Reach.NOTED else 0
    end = max(noted, rollout.count)
    return frozenset(unit.ordinal for unit in state.units if unit.ordinal >= end)


def _find_holds(
    state: LineState, rollout: Rollout, untrusted: tuple[UntrustedUnit, ...]
) -> tuple[Blocker, ...]:
    """A blocker while untrusted units hold the rollout and old units or surge remain."""
    stale = find_stale(state)
    if not untrusted or (not stale and rollout.count <= state.wanted):
        return ()
    is_repeated = bool(stale) and all(unit.is_edited for unit in stale)
    return (explain_hold(untrusted, state, is_repeated=is_repeated),)


def _find_waits(state: LineState, rollout: Rollout) -> tuple[Blocker, ...]:
    """The strategy's blocker, unless this step replaces units or the user paused the rollout."""
    is_moving = state.reach is Reach.ANY and bool(rollout.replace)
    if rollout.blocker is None or is_moving or state.rollout.is_paused:
        return ()
    return (rollout.blocker,)


def _wakes(state: LineState, now: float) -> Iterator[float]:
    """Seconds until the ``wakes_at`` of each unit that has one in the future."""
    for unit in state.units:
        if unit.wakes_at is not None and unit.wakes_at > now:
            yield unit.wakes_at - now


def _find_recheck(
    availability: Availability,
    untrusted: tuple[UntrustedUnit, ...],
    recovery: Recovery,
    trust_waits: Iterable[float],
) -> float | None:
    """Seconds until the first wait ends; None if only an event can change the plan."""
    waits = [*availability.waits.values(), *recovery.waits.values(), *trust_waits]
    waits += [unit.wait for unit in untrusted if unit.wait is not None]
    return min(waits, default=None)


def _number_back(step: Step, ranks: Ranks) -> Step:
    """The step with ranks translated back to ordinals."""
    if ranks.is_dense:
        return step
    find = ranks.find_ordinal
    return replace(
        step,
        rollout=replace(step.rollout, replace=tuple(find(o) for o in step.rollout.replace)),
        make=tuple(replace(make, ordinal=find(make.ordinal)) for make in step.make),
        retire=tuple(replace(gone, ordinal=find(gone.ordinal)) for gone in step.retire),
        amend=tuple(find(ordinal) for ordinal in step.amend),
        restarts=tuple(replace(r, ordinal=find(r.ordinal)) for r in step.restarts),
        surplus=frozenset(find(ordinal) for ordinal in step.surplus),
        may_complete=frozenset(find(ordinal) for ordinal in step.may_complete),
        renew=tuple((find(ordinal), name) for ordinal, name in step.renew),
        waiting_parts={find(ordinal): names for ordinal, names in step.waiting_parts.items()},
        backing_off=frozenset(find(ordinal) for ordinal in step.backing_off),
        failures=tuple(
            sorted(
                (*ranks.apart, *(replace(f, ordinal=find(f.ordinal)) for f in step.failures)),
                key=lambda failure: failure.ordinal,
            )
        ),
        blockers=tuple(
            replace(b, ordinals=tuple(find(ordinal) for ordinal in b.ordinals))
            for b in step.blockers
        ),
    )
