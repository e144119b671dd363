"""States of lines that fresh eyes found, each of which once broke a promise or stood still."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of, instance_policy, make_instance
from test_role_rules import start, steps_of, workload

from kohort.model.observed import (
    Crash,
    Failure,
    Group,
    Instance,
    Member,
    Observed,
    RoleInstances,
    Tally,
)
from kohort.model.policies import Gate, RecoveryPolicy, Rule, Skew, Trigger, Victims
from kohort.model.units import GROUPS, Level, Line, Phase, Reach
from kohort.planning.bounds import Bounds, plan_bounds
from kohort.planning.lines import LineState
from kohort.planning.plan import plan
from kohort.planning.step import plan_step

READY, STARTING, LEAVING = Phase.READY, Phase.STARTING, Phase.LEAVING
RECREATE = RecoveryPolicy(Trigger.ALWAYS, Level.INSTANCE)


def line(*units: Instance, policy=None, **more) -> LineState:
    policy = policy or instance_policy(len(units), 1)
    return LineState(Line(0, "r"), NEW, policy, units, base=OLD, **more)


def unit(ordinal: int, revision: str = NEW, phase: Phase = READY, **more) -> Instance:
    return make_instance(ordinal, (revision, phase), **more)


def failure(ordinal: int, count: int = 5) -> Failure:
    crash = Crash(f"x-{ordinal}", ended_at=NOW - 1)
    return Failure(ordinal, NEW, f"uid-{ordinal}", count, NOW - 1, crash, Line(0, "r"))


def test_a_rule_about_growth_does_not_pay_for_a_rollout():
    old = [unit(ordinal, OLD) for ordinal in range(3)]
    found = plan_step(line(*old, policy=instance_policy(4, 1)), NOW, Bounds(count_max=3))
    assert found.retire == ()


def test_a_role_that_rolls_is_mended_while_another_cannot_grow():
    rule = Rule("ratio", ("a", "b"), scale_skew=Skew(share=0.5), gate=Gate.READY)
    asked = workload({"a": 4, "b": 4}, rule)
    stuck = ((0, (OLD, READY)), (1, (OLD, READY)), (2, (OLD, STARTING)))
    rolling = tuple((i, (OLD, READY)) for i in (0, 1, 3))
    steps = steps_of(World((("a", stuck), ("b", rolling))), asked)
    assert [make.ordinal for make in steps["b"].make] == [2]


def test_scaling_a_role_down_is_no_failure_of_its_group():
    asked = replace(workload({"a": 2}), recovery=RecoveryPolicy(Trigger.ALWAYS), has_rollout=True)
    held = (unit(0), unit(1), unit(2, phase=LEAVING))
    role = RoleInstances("a", 2, NEW, held)
    members = tuple(member for instance in held for member in instance.members)
    group = Group(0, NEW, READY, "g", 2, members, roles=(role,))
    assert plan(asked, Observed((group,)), NOW).step.retire == ()
    broken = replace(role, instances=held[1:])
    hurt = replace(group, roles=(broken,), members=members[1:])
    assert [r.cause for r in plan(asked, Observed((hurt,)), NOW).step.restarts] == ["x-2"]


def test_an_old_unit_that_leaves_holds_no_role_back_when_another_stands_in_for_it():
    rule = Rule("order", ("a", "b"), is_ordered=True)
    first = RoleInstances("a", 2, NEW, (unit(0, OLD, LEAVING), unit(1), unit(2)), are_alike=True)
    second = RoleInstances("b", 2, NEW, (unit(0, OLD), unit(1, OLD)))
    group = Group(0, NEW, READY, "g", 4, roles=(first, second))
    assert not plan_bounds(workload({"a": 2, "b": 2}, rule), group)


def test_a_role_that_an_old_group_still_has_goes_with_its_group():
    asked = workload({"a": 1})
    world = World((("a", ((0, (OLD, READY)),)), ("gone", ((0, (OLD, READY)),))))
    old = group_of(world, {"a": 1, "gone": 1})
    steps = plan(asked, Observed((old,)), NOW).steps
    assert steps[Line(0, "gone")].retire == ()


def test_a_protected_group_keeps_its_own_counts():
    asked = workload({"a": 4})
    group = group_of(start({"a": 2}), {"a": 2})
    assert plan(asked, Observed((group,)), NOW).steps[Line(0, "a")].make == ()


def test_roles_answer_for_their_own_ended_members():
    ended = Member("a-0", "u", 0, NEW, STARTING, has_ended=True)
    instance = Instance(0, NEW, STARTING, "u", 1, (ended,))
    role = RoleInstances("a", 1, NEW, (instance,))
    group = Group(0, NEW, STARTING, "g", 1, (ended,), roles=(role,))
    found = plan(workload({"a": 1}), Observed((group,)), NOW)
    assert (found.step.retire, found.step.renew) == ((), ())


def test_what_was_made_wrong_goes_under_any_policy():
    found = plan_step(line(unit(0, unfit=("x-0",))), NOW)
    assert [gone.ordinal for gone in found.retire] == [0]


def test_a_role_that_waits_to_begin_keeps_no_other_from_growing():
    rule = Rule("ratio", ("a", "b"), scale_skew=Skew(share=0.25), gate=Gate.NONE)
    asked = workload({"a": 4, "b": 4}, rule, after={"b": ("a",)})
    begun = World((("a", ((0, (NEW, READY)),)), ("b", ())))
    assert [make.ordinal for make in steps_of(begun, asked)["a"].make] == [1, 2, 3]


def test_an_order_and_a_skew_over_the_same_roles_do_not_stop_each_other():
    even = Rule("even", ("a", "b"), update_skew=Skew(units=1))
    asked = workload({"a": 3, "b": 3}, even, Rule("first a", ("a", "b"), is_ordered=True))
    half = World(
        (
            ("a", ((0, (OLD, READY)), (1, (OLD, READY)), (2, (NEW, READY)))),
            ("b", tuple((i, (OLD, READY)) for i in range(3))),
        )
    )
    assert [gone.ordinal for gone in steps_of(half, asked)["a"].retire] == [1]


def test_a_role_that_its_group_does_not_have_is_not_waited_for():
    asked = workload({"a": 1, "b": 1}, after={"b": ("a",)})
    group = group_of(World((("b", ()),)), {"b": 1})
    steps = plan(asked, Observed((group,)), NOW).steps
    assert [make.ordinal for make in steps[Line(0, "b")].make] == [0]


def test_a_role_is_not_updated_while_the_one_before_it_is_in_trouble():
    asked = workload({"a": 1, "b": 1}, after={"b": ("a",)})
    world = World((("a", ((0, (NEW, STARTING)),)), ("b", ((0, (OLD, READY)),))))
    assert steps_of(world, asked)["b"].retire == ()


def test_an_instance_whose_entry_has_gone_is_made_anew():
    worker = Member("x-0-1", "w", 1, NEW, READY)
    lost = Instance(0, NEW, STARTING, "", 2, (worker,), lost=("x-0",))
    found = plan_step(line(lost, recovery=RECREATE), NOW)
    assert [gone.ordinal for gone in found.retire] == [0]


class TestFailureRecords:
    def test_records_stay_with_their_ordinals(self):
        units = [unit(0), unit(1), unit(2), unit(3, phase=LEAVING)]
        state = line(*units, policy=instance_policy(3, 1), failures=(failure(3),))
        for _ in range(3):
            found = plan_step(replace(state, recovery=RECREATE), NOW)
            assert [record.ordinal for record in found.failures] == [3]
            assert found.surplus == frozenset()
            state = replace(state, failures=found.failures)

    def test_one_that_leaves_keeps_its_place_in_a_sparse_line(self):
        units = [unit(1), unit(4, phase=LEAVING), unit(7)]
        state = line(*units, policy=instance_policy(3, 1), failures=(failure(4),))
        found = plan_step(replace(state, recovery=RECREATE), NOW)
        assert found.make == ()
        assert [record.ordinal for record in found.failures] == [4]

    def test_words_name_ordinals_and_not_ranks(self):
        crashed = replace(unit(7).members[0], has_restarted=True, crash=Crash("x-7", ended_at=NOW))
        broken = replace(unit(7), members=(crashed,))
        state = line(unit(1), unit(4), broken, failures=(failure(7),), recovery=RECREATE)
        (blocker,) = plan_step(state, NOW).blockers
        assert blocker.message.startswith("instance 7 failed")
        assert blocker.ordinals == (7,)


class TestSkewByCounts:
    def plan(self, units, most: int, surge: int = 0, unavailable: int = 2):
        policy = instance_policy(len(units), unavailable, surge)
        return plan_step(line(*units, policy=policy), NOW, Bounds(updated_max=most))

    def test_updated_units_count_wherever_they_stand(self):
        units = [unit(0), unit(1), unit(2, OLD), unit(3, OLD)]
        assert [gone.ordinal for gone in self.plan(units, 3).retire] == [3]

    def test_extra_units_count_as_updated(self):
        units = [unit(i, OLD) for i in range(3)]
        found = self.plan(units, 1, surge=3, unavailable=0)
        assert len(found.make) + len(found.retire) == 1

    def test_extra_units_and_deletes_together_stay_within_what_is_allowed(self):
        found = self.plan([unit(i, OLD) for i in range(3)], 1, surge=1, unavailable=1)
        assert len(found.make) + len(found.retire) == 1

    def test_a_role_that_is_done_is_not_undone(self):
        units = [unit(1), unit(2)]
        found = plan_step(line(*units, policy=instance_policy(3, 1)), NOW, Bounds(updated_max=0))
        assert [(make.ordinal, make.revision) for make in found.make] == [(0, NEW)]

    def test_extra_units_of_the_first_do_not_start_the_second(self):
        rule = Rule("first a", ("a", "b"), is_ordered=True)
        asked = workload({"a": 2, "b": 1}, rule)
        surged = tuple((i, (OLD, READY)) for i in range(2)) + tuple(
            (i, (NEW, READY)) for i in (2, 3)
        )
        world = World((("a", surged), ("b", ((0, (OLD, READY)),))))
        assert steps_of(world, asked)["b"].retire == ()

    def test_a_partition_is_no_lack_of_progress(self):
        rule = Rule("even", ("a", "b"), update_skew=Skew(units=1))
        asked = workload({"a": 2, "b": 2}, rule)
        held = replace(asked.roles[0], rollout=instance_policy(2, 1, partition=2))
        asked = replace(asked, roles=(held, asked.roles[1]))
        half = World(
            (
                ("a", tuple((i, (OLD, READY)) for i in range(2))),
                ("b", ((0, (OLD, READY)), (1, (NEW, READY)))),
            )
        )
        assert [gone.ordinal for gone in steps_of(half, asked)["b"].retire] == [0]


def test_sparse_groups_are_available_when_all_are_ready():
    asked = replace(
        workload({"a": 1}), groups=3, rollout=instance_policy(3, 1), victims=Victims.CHEAPEST
    )
    groups = tuple(
        replace(group_of(start({"a": 1}, (NEW, READY)), {"a": 1}), ordinal=o, phase=READY)
        for o in (1, 4, 7)
    )
    report = plan(asked, Observed(groups, exist=3), NOW).report
    assert report.is_available and report.is_done
    assert report.blockers == ()


class TestForgiveness:
    POLICY = RecoveryPolicy(Trigger.ALWAYS, Level.INSTANCE, grace_seconds=400.0, is_forgiving=True)

    def crashing(self, ended: float, unready: float) -> Instance:
        crash = Crash("x-0", "c", 1, ended_at=ended)
        member = Member(
            "x-0", "u", 0, NEW, STARTING, has_restarted=True, crash=crash, unready_since=unready
        )
        return Instance(0, NEW, STARTING, "u", 1, (member,))

    def test_grace_ends_though_the_member_crashes_again_and_again(self):
        failures: tuple[Failure, ...] = ()
        for second in range(0, 500, 50):
            state = line(self.crashing(NOW + second, NOW), failures=failures)
            found = plan_step(replace(state, recovery=self.POLICY), NOW + second)
            failures = found.failures
            assert bool(found.retire) == (second >= 400)
        assert [record.count for record in failures] == [1]

    def test_a_member_that_served_in_between_has_failed_anew(self):
        (first,) = plan_step(line(self.crashing(NOW, NOW), recovery=self.POLICY), NOW).failures
        again = line(self.crashing(NOW + 300, NOW + 300), failures=(first,))
        (second,) = plan_step(replace(again, recovery=self.POLICY), NOW + 300).failures
        assert (second.count, second.at) == (2, NOW + 300)

    def test_one_that_serves_again_has_not_failed(self):
        crashed = self.crashing(NOW, NOW)
        well = replace(crashed.members[0], phase=READY, has_recovered=True)
        state = line(replace(crashed, phase=READY, members=(well,)), recovery=self.POLICY)
        assert plan_step(state, NOW + 500).retire == ()


class TestSettled:
    def test_a_member_that_restarted_is_not_settled(self):
        restarted = replace(unit(0).members[0], has_restarted=True)
        held = RoleInstances("a", 1, NEW, (replace(unit(0), members=(restarted,)),))
        assert not held.is_settled

    def test_what_a_partition_protects_is_settled(self):
        held = RoleInstances("a", 2, NEW, (unit(0, OLD), unit(1)), partition=1)
        assert held.is_settled
        assert not replace(held, partition=0).is_settled


class TestTallies:
    def role(self, name: str, **tally) -> RoleInstances:
        return RoleInstances(name, 4, NEW, tally=Tally(4, **tally))

    def asked(self, *rules, after=None):
        found = workload({"a": 4, "b": 4}, *rules, after=after)
        return replace(found, roles=tuple(replace(role, reach=Reach.COUNT) for role in found.roles))

    def steps(self, asked, *roles):
        group = Group(0, NEW, STARTING, "g", 1, roles=roles)
        return plan(asked, Observed((group,)), NOW)

    def test_a_tally_that_has_not_seen_the_change_has_updated_nothing(self):
        rule = Rule("even", ("a", "b"), update_skew=Skew(units=1))
        unseen = self.role("a", exist=4, ready=4, updated=4, updated_ready=4, is_seen=False)
        other = self.role("b", exist=4, ready=4, updated=0, updated_ready=0)
        found = self.steps(self.asked(rule), unseen, other)
        assert found.steps[Line(0, "b")].rollout.boundary == 3

    def test_a_role_that_has_begun_elsewhere_is_not_held_back(self):
        before = self.role("a", exist=4, ready=1, updated=4, updated_ready=1)
        begun = self.role("b", exist=2, ready=2, updated=2, updated_ready=2)
        found = self.steps(self.asked(after={"b": ("a",)}), before, begun)
        assert found.steps[Line(0, "b")].rollout.count == 4

    def test_tallies_are_reported(self):
        held = self.role("a", exist=4, ready=3, updated=2, updated_ready=1)
        report = self.steps(self.asked(), held).report.roles["a"]
        assert (report.exist, report.ready, report.updated) == (4, 3, 2)

    @pytest.mark.parametrize("before", [10, 9, 6])
    def test_a_paused_role_that_shrinks_or_lost_a_unit_updates_no_other(self, before: int):
        """Its highest units go first, and those are the updated ones."""
        policy = replace(instance_policy(8, 1), is_paused=True)
        updated = max(0, before - 7)
        tally = Tally(10, before, before, updated, updated, boundary=7)
        state = line(policy=policy, tally=tally, reach=Reach.COUNT)
        assert plan_step(state, NOW).rollout.boundary >= 7

    @pytest.mark.parametrize(("updated", "boundary"), [(1, 7), (3, 2)], ids=["rolling", "at rest"])
    def test_units_that_a_rolling_role_grows_by_are_within_the_bounds(self, updated, boundary):
        tally = Tally(3, 3, 3, updated, updated, boundary=2)
        state = line(policy=instance_policy(10, 1), tally=tally, reach=Reach.COUNT)
        bounds = Bounds(updated_max=3)
        assert plan_step(state, NOW, bounds).rollout.boundary == boundary
        written = replace(tally, wanted=10, boundary=boundary)
        for told in (written, replace(written, updated=0, is_seen=False)):
            after = plan_step(replace(state, tally=told), NOW, Bounds(updated_max=1))
            assert after.rollout.boundary == boundary


def test_a_first_step_waits_for_nothing():
    found = plan_step(line(*(unit(i, OLD) for i in range(3))), NOW)
    assert [gone.ordinal for gone in found.retire] == [2]
    assert found.blockers == ()


def test_a_paused_rollout_says_that_it_is_paused():
    policy = replace(instance_policy(2, 1), is_paused=True)
    found = plan_step(line(unit(0, OLD), unit(1, OLD), policy=policy), NOW)
    assert [blocker.reason for blocker in found.blockers] == ["Paused"]


@pytest.mark.parametrize("ordinals", [(0, 1, 2), (1, 4, 7)])
def test_steps_are_found_by_their_line(ordinals):
    world = World((("a", tuple((o, (NEW, READY)) for o in ordinals)),))
    found = plan(workload({"a": 3}), Observed((group_of(world, {"a": 3}),)), NOW)
    assert set(found.steps) == {GROUPS, Line(0, "a")}


def test_a_unit_that_waits_by_itself_is_looked_at_when_its_wait_is_over():
    waiting = replace(unit(0), wakes_at=NOW + 5.0)
    assert plan_step(line(waiting, unit(1)), NOW).recheck_seconds == 5.0
    assert plan_step(line(replace(waiting, wakes_at=NOW - 1.0)), NOW).recheck_seconds is None
