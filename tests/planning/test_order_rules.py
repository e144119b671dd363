"""Units that come one at a time from the lowest and go from the highest, in every small state."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, instance_policy, search
from test_line_budget import check_budget, is_finished, line

from kohort.model.plans import Cause, Step
from kohort.model.policies import RolloutPolicy, Victims
from kohort.model.units import Phase
from kohort.planning.step import plan_step

READY, STARTING, LEAVING = Phase.READY, Phase.STARTING, Phase.LEAVING
SHAPES = {
    "nothing": (),
    "dense": (0, 1, 2),
    "sparse": (1, 4),
    "one missing": (0, 2),
    "two too many": (0, 1, 2, 3, 4),
    "too many, and sparse": (1, 6, 7, 9),
}
# Where ordinals are addresses, no line is sparse unless another client made it so.
CASES = [
    (shape, victims)
    for victims in (Victims.HIGHEST, Victims.BEYOND)
    for shape in SHAPES
    if victims is Victims.HIGHEST or "sparse" not in shape
]


def world(*units) -> World:
    return World((("r", tuple(units)),))


def plan(held: World, policy: RolloutPolicy, **more) -> Step:
    return plan_step(line(held, policy, **{"is_ordered": True, **more}), NOW)


def find_disorder(held: World, step: Step, surge: int, victims: Victims) -> str:
    """What a step does out of turn, in words."""
    units = dict(held.units_of("r"))
    for make in step.make:
        lower = [state[1] for ordinal, state in units.items() if ordinal < make.ordinal]
        if len(step.make) > 1 or any(phase is not READY for phase in lower):
            return f"{make} is made out of turn"
    # Extra units of a rollout stand right above the wanted count, and are none of them.
    live = sorted(o for o, state in units.items() if state[1] is not LEAVING)
    beyond = [o for o in live if o not in range(3, 3 + surge)][3:]
    if victims is Victims.BEYOND:
        beyond = [o for o in live if o >= 3]
    surplus = [gone.ordinal for gone in step.retire if gone.ordinal in beyond]
    for ordinal in surplus:
        above = [o for o in units if o > ordinal]
        if len(surplus) > 1 or any(units[o][1] is LEAVING for o in above):
            return f"{ordinal} goes out of turn"
    return ""


def find_more_than_order(held: World, ordered: Step, free: Step) -> str:
    """What order changes besides who comes and goes when, in words."""
    if not set(ordered.make) <= set(free.make) or not set(ordered.retire) <= set(free.retire):
        return "order does more than the line asks for"
    wanted = [o for o in sorted(dict(held.units_of("r")))[:3] if o < 3]
    left = set(free.retire) - set(ordered.retire)
    if any(gone.ordinal in wanted for gone in left) or ordered.amend != free.amend:
        return "order keeps a rollout or a restart back"
    is_less = left or len(ordered.make) < len(free.make)
    says = [b for b in ordered.blockers if b.reason == "WaitingForOrder"]
    return "" if bool(says) == bool(is_less) else "a step does less and does not say why"


@pytest.mark.parametrize(("shape", "victims"), CASES, ids=str)
@pytest.mark.parametrize("budget", [(1, 0), (0, 1), (1, 2)], ids=str)
def test_units_come_and_go_in_order_and_every_rollout_and_scale_ends(shape, budget, victims):
    policy = instance_policy(3, *budget)
    units = tuple((ordinal, (OLD, READY)) for ordinal in SHAPES[shape])
    found = []

    def decide(held: World):
        step = plan(held, policy, victims=victims)
        free = plan(held, policy, victims=victims, is_ordered=False)
        found.append(find_disorder(held, step, policy.surge, victims))
        found.append(find_more_than_order(held, step, free))
        return {"r": step}

    start = World((("r", units),), failures=1)
    assert not search(start, decide, check_budget(policy, 1, victims), is_finished(policy))
    assert set(found) == {""}


def test_a_lower_unit_that_is_broken_keeps_higher_ones_from_being_made_and_nothing_else():
    broken = (0, (OLD, Phase.BROKEN))
    policy = instance_policy(4, 3, partition=1)
    step = plan(world(broken, (1, (OLD, READY)), (2, (OLD, READY))), policy)
    assert step.make == ()
    assert [(gone.ordinal, gone.cause) for gone in step.retire] == [(2, Cause.STALE)]
    smaller = plan(world(broken, (1, (NEW, READY)), (2, (NEW, READY))), instance_policy(2, 1))
    assert [gone.ordinal for gone in smaller.retire] == [0, 2]


def test_a_unit_that_waits_for_its_turn_says_for_which():
    step = plan(world((0, (NEW, STARTING))), instance_policy(3, 1))
    assert step.make == ()
    (blocker,) = step.blockers
    assert blocker.reason == "WaitingForOrder"
    assert blocker.message == "instance 1 is made when instance 0 is ready"
    assert blocker.ordinals == (0,)


def test_the_next_unit_goes_when_the_last_has_gone():
    units = [(ordinal, (NEW, READY)) for ordinal in range(3)]
    policy = instance_policy(1, 1)
    assert [gone.ordinal for gone in plan(world(*units), policy).retire] == [2]
    step = plan(world(*units[:2], (2, (NEW, LEAVING))), policy)
    assert step.retire == ()
    assert [b.message for b in step.blockers] == [
        "instance 1 is taken down when instance 2 has gone"
    ]


def test_the_highest_go_whatever_they_cost():
    policy = instance_policy(2, 1)
    state = line(world(*((o, (NEW, READY)) for o in range(3))), policy, victims=Victims.CHEAPEST)
    costly = tuple(replace(unit, cost=unit.ordinal) for unit in state.units)
    step = plan_step(replace(state, units=costly, is_ordered=True), NOW)
    assert [gone.ordinal for gone in step.retire] == [2]
