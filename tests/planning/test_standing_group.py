"""A group that always exists and never rolls: its roles are planned and reported from the first."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, search
from test_role_rules import start, workload

from kohort.model.observed import Group, Observed, Tally
from kohort.model.plans import LineReport, Plan
from kohort.model.policies import RecoveryPolicy, Rule, Skew
from kohort.model.units import GROUPS, Level, Line, Phase
from kohort.model.workload import Workload
from kohort.planning.plan import plan

READY, STARTING, LEAVING = Phase.READY, Phase.STARTING, Phase.LEAVING
SIZES = {"a": 2, "b": 1, "none": 0}
EMPTY = World((("a", ()), ("b", ()), ("none", ())))
EVEN = Rule("even", ("a", "b"), update_skew=Skew(share=0.01), scale_skew=Skew(share=0.5))


def ask(*rules: Rule, after=None) -> Workload:
    found = workload(SIZES, *rules, after=after)
    return replace(found, recovery=RecoveryPolicy(level=Level.MEMBER))


def standing(world: World) -> Group:
    """The group of a workload, as it is read from the first moment on."""
    found = group_of(world, SIZES)
    instances = [instance for role in found.roles for instance in role.instances]
    serves = all(
        sum(i.phase is READY for i in role.instances) >= role.wanted for role in found.roles
    )
    return replace(
        found,
        revision=NEW if all(i.revision == NEW for i in instances) else "",
        phase=READY if serves else STARTING,
        incarnation="uid",
        members=tuple(member for instance in instances for member in instance.members),
        is_settled=all(role.is_settled for role in found.roles),
    )


def decide(world: World, asked: Workload) -> Plan:
    return plan(asked, Observed((standing(world),), exist=1), NOW)


def count(world: World, role: str) -> LineReport:
    """The truth about a role, counted by hand."""
    units = [state for _, state in world.units_of(role)]
    new = [state for state in units if state[0] == NEW]
    ready, done = (sum(s[1] is READY for s in of) for of in (units, new))
    is_old = len(new) < len(units)
    serves = not is_old and ready >= SIZES[role]
    return LineReport(SIZES[role], len(units), ready, len(new), done, is_old, serves)


def is_whole(world: World) -> bool:
    return all(
        len(units) == SIZES[role] and all(state == (NEW, READY) for _, state in units)
        for role, units in world.lines
    )


def find_untruth(world: World, found: Plan) -> str:
    step = found.steps[GROUPS]
    if step.make or step.retire or step.amend or step.renew or step.recheck_seconds:
        return f"something is done to the group: {step}"
    planned = {line.role for line in found.steps if line != GROUPS}
    if planned != (set() if standing(world).is_settled else set(SIZES)):
        return f"only {planned} are planned"
    if found.report.roles != {role: count(world, role) for role in SIZES}:
        return f"the roles are not {found.report.roles}"
    if found.report.is_done != is_whole(world):
        return "it is said to be done, and is not, or the other way round"
    serves = all(count(world, role).ready >= wanted for role, wanted in SIZES.items())
    return (
        "" if found.report.is_available == (serves and not found.report.is_updating) else "serves"
    )


@pytest.mark.parametrize("begin", ["nothing", "old", "too many"])
@pytest.mark.parametrize("after", [{}, {"b": ("a",)}], ids=["no order", "b after a"])
@pytest.mark.parametrize("rules", [(), (EVEN,)], ids=["no rule", "even"])
def test_a_standing_group_is_planned_and_reported_truthfully_in_every_state(begin, after, rules):
    begun = {"old": start(SIZES), "too many": start({"a": 3, "b": 2, "none": 1}, (NEW, READY))}
    asked, untruths = ask(*rules, after=after), set()

    def steps(world: World):
        found = decide(world, asked)
        untruths.add(find_untruth(world, found))
        return {line.role: step for line, step in found.steps.items() if line != GROUPS}

    def check(before: World, following: World, role: str) -> str:
        if role != "b" or not after or before.units_of("b") == following.units_of("b"):
            return ""
        a, b = before.units_of("a"), dict(before.units_of("b"))
        is_begun = not b and bool(following.units_of("b"))
        given_up = [o for o, s in following.units_of("b") if s[1] is LEAVING and o in b and o < 1]
        is_updated = any(b[o] == (OLD, READY) for o in given_up)
        done = len(a) == 2 and all(s[1] is READY and (s[0] == NEW or is_begun) for _, s in a)
        return f"{role} comes before a" if (is_begun or is_updated) and not done else ""

    found = search(replace(begun.get(begin, EMPTY), failures=1), steps, check, is_whole)
    assert not found
    assert untruths == {""}


def test_roles_are_planned_from_the_first_moment():
    steps = decide(EMPTY, ask()).steps
    made = {line.role: len(step.make) for line, step in steps.items() if line != GROUPS}
    assert made == SIZES


def test_a_group_without_roles_is_done():
    asked = replace(ask(), roles=())
    nothing = Group(0, NEW, READY, "uid", 0, is_settled=True)
    found = plan(asked, Observed((nothing,), exist=1), NOW)
    assert list(found.steps) == [GROUPS]
    assert found.report.is_done and found.report.blockers == ()


def test_a_tally_of_another_controller_is_done_when_all_it_has_is_updated():
    (role,) = (r for r in standing(EMPTY).roles if r.role == "a")
    for updated in (1, 2):
        held = replace(role, tally=Tally(2, 2, 2, updated, updated))
        group = replace(standing(EMPTY), roles=(held,), phase=READY)
        report = plan(ask(), Observed((group,), exist=1), NOW).report
        assert report.is_done == (updated == 2)


def test_a_role_is_updated_after_the_one_before_it():
    found = decide(start(SIZES), ask(after={"b": ("a",)}))
    assert found.steps[Line(0, "a")].retire and not found.steps[Line(0, "b")].retire
    (blocker,) = found.steps[Line(0, "b")].blockers
    message = "role b depends on role a, and is updated when that is: 0 of {} of its instances are"
    assert blocker.message == message.format(SIZES["a"])


def test_a_role_that_is_not_updated_says_how_many_of_the_one_before_it_are_ready():
    world = start(SIZES).put("a", 0, (NEW, Phase.STARTING))
    (blocker,) = decide(world, ask(after={"b": ("a",)})).steps[Line(0, "b")].blockers
    message = (
        "role b depends on role a, and is updated when that is ready again: {} of {} of its "
        "instances are"
    )
    assert blocker.message == message.format(SIZES["a"] - 1, SIZES["a"])


def test_a_role_whose_update_is_paused_is_not_waited_for():
    asked = ask(after={"b": ("a",)})
    first, *others = asked.roles
    assert first.rollout is not None
    paused = replace(first, rollout=replace(first.rollout, is_paused=True))
    found = decide(start(SIZES), replace(asked, roles=(paused, *others)))
    assert found.steps[Line(0, "b")].retire
