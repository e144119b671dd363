"""Parts of an instance start in their order, in every state of a small instance."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, instance_policy, make_instance
from member_search import LEAVING, LINE, MISSING, READY, STARTING, UnitWorld, search
from test_member_rules import AFTER_READY

from kohort.model.plans import Step
from kohort.model.units import Phase
from kohort.model.workload import Part
from kohort.planning.lines import LineState
from kohort.planning.step import plan_step

PAIR = (Part("a"), Part("b", 2, ("a",)))
CHAIN = (Part("c", 1, ("b",)), Part("b", 1, ("a",)), Part("a"))
FORK = (Part("a", 2), Part("b", 1, ("a", "gone", "none")), Part("none", 0, ("a",)))
CIRCLE = (Part("a", 1, ("b",)), Part("b", 2, ("a",)))


def line(world: UnitWorld, parts: tuple[Part, ...]) -> LineState:
    units = (world.instance(),)
    policy, records = instance_policy(1, 1), world.failure()
    state = LineState(LINE, "new", policy, units, failures=records, parts=parts)
    return replace(state, recovery=AFTER_READY)


def world(parts: tuple[Part, ...], *members: str, **more) -> UnitWorld:
    names = tuple(part.name for part in parts for _ in range(part.size))
    return UnitWorld(members or tuple(MISSING for _ in names), parts=names, **more)


def check_order(parts: tuple[Part, ...]):
    sizes = {part.name: part.size for part in parts}
    after = {part.name: part.after for part in parts}

    def check(before: UnitWorld, following: UnitWorld, step: Step) -> str:
        held = list(zip(before.parts, before.members, following.members, strict=True))
        for name, state, then in held:
            begun = any(n == name and s not in (MISSING, LEAVING) for n, s, _ in held)
            if state != MISSING or then != STARTING or begun:
                continue
            ready = [n for n, s, _ in held if s == READY]
            if any(ready.count(other) < sizes.get(other, 0) for other in after[name]):
                return f"part {name} begins early"
        return ""

    return check


@pytest.mark.parametrize("parts", [PAIR, CHAIN, FORK], ids=["pair", "chain", "fork"])
@pytest.mark.parametrize("failures", [0, 1], ids=["no failure", "one failure"])
def test_no_part_begins_before_those_that_it_comes_after_and_every_unit_is_whole_in_the_end(
    parts, failures
):
    found = search(
        world(parts, failures=failures),
        lambda held: plan_step(line(held, parts), NOW),
        check_order(parts),
        lambda held: all(s == READY for s in held.members) and not held.is_recorded,
    )
    assert not found


def test_parts_in_a_circle_have_no_order_and_start():
    step = plan_step(line(world(CIRCLE), CIRCLE), NOW)
    assert step.waiting_parts == {} and step.may_complete == {0}


def test_what_has_begun_is_mended_while_the_part_before_it_is_in_trouble():
    step = plan_step(line(world(PAIR, STARTING, READY, MISSING), PAIR), NOW)
    assert step.waiting_parts == {}


def test_a_member_that_leaves_has_not_begun():
    step = plan_step(line(world(PAIR, STARTING, LEAVING, MISSING), PAIR), NOW)
    assert step.waiting_parts == {0: {"b"}}


def test_a_part_that_waits_says_for_which_one():
    step = plan_step(line(world(CHAIN, MISSING, MISSING, STARTING), CHAIN), NOW)
    assert step.waiting_parts == {0: {"b", "c"}}
    (blocker,) = (b for b in step.blockers if b.reason == "WaitingForPart")
    assert (
        blocker.message
        == "part b of instance 0 waits for part a, of which 0 of 1 members are ready"
    )


def test_units_that_are_about_to_be_made_wait_too_and_are_named_by_ordinal():
    units = (make_instance(4, (NEW, Phase.READY)), make_instance(7, (NEW, Phase.STARTING)))
    state = LineState(LINE, NEW, instance_policy(3, 1), units, parts=PAIR)
    step = plan_step(state, NOW)
    assert [make.ordinal for make in step.make] == [0]
    assert step.waiting_parts == {0: {"b"}, 4: {"b"}, 7: {"b"}}
    assert [b.ordinals for b in step.blockers if b.reason == "WaitingForPart"] == [(4, 7)]
