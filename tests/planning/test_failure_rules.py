"""How long failed groups wait, when they are trusted again, and what is remembered of them."""

from dataclasses import replace

import orjson
import pytest

from kohort.apis.carriers.failures import find_replaced, read_failures, write_failures
from kohort.model.observed import Crash, Failure, Group, Member, Observed, Progress
from kohort.model.policies import Backoff, RecoveryPolicy, RolloutPolicy, Trigger
from kohort.model.units import Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.availability import judge_availability
from kohort.planning.failures import RECORDS_MAX, keep_failures, trust_seconds, wait_seconds
from kohort.planning.lines import group_line
from kohort.planning.plan import plan
from kohort.planning.recovery import plan_recovery

T0 = 1_800_000_000.0
POLICY = RolloutPolicy(2, max_unavailable=1, max_surge=1)
USUAL = Backoff()


def workload(
    trigger: Trigger = Trigger.ALWAYS, rollout: RolloutPolicy = POLICY, backoff: Backoff = USUAL
) -> Workload:
    return Workload(
        *("default", "x", "uid", 1),
        groups=rollout.wanted,
        roles=(Role(),),
        revision="new",
        rollout=rollout,
        recovery=RecoveryPolicy(trigger, backoff=backoff),
    )


def group(ordinal: int, uid: str, made: float = T0, **more) -> Group:
    """A group of one pod that is ready from two seconds after it was made."""
    facts = {"revision": "new", "phase": Phase.READY, **more.pop("group", {})}
    member = Member(f"x-{ordinal}", uid, 0, "new", facts["phase"], ready_since=made + 2)
    member = replace(member, **more)
    return Group(ordinal, incarnation=uid, size=1, members=(member,), made_at=made, **facts)


def failed(ordinal: int, uid: str, made: float, at: float, **more) -> Group:
    crash = Crash(f"x-{ordinal}", "engine", 1, "Error", at)
    return group(ordinal, uid, made, has_restarted=True, crash=crash, **more)


def live_and_fail(lives: list[float], backoff: Backoff = USUAL) -> list[float]:
    """Let a group fail again and again, each time after it lived for so long: the waits."""
    now, failures, waits = T0, (), []
    asked = workload(backoff=backoff)
    for number, seconds in enumerate(lives):
        made, now = now, now + seconds
        seen = Observed((failed(0, f"life-{number}", made, now),), failures=failures)
        recorded = plan_recovery(group_line(asked, seen), now)
        assert recorded.restarts == (), "taken down before its failure was recorded"
        failures = recorded.failures
        waiting = plan_recovery(group_line(asked, replace(seen, failures=failures)), now)
        wait = waiting.waits.get(0, 0.0)
        assert bool(waiting.restarts) == (wait == 0)
        after = plan_recovery(group_line(asked, replace(seen, failures=failures)), now + wait)
        assert [restart.cause for restart in after.restarts] == ["x-0"]
        assert after.failures == failures, "recorded twice"
        waits.append(wait)
        now += wait
    return waits


class TestWaits:
    def test_the_first_comes_at_once_and_then_it_doubles_to_five_minutes(self):
        assert live_and_fail([3.0] * 9) == [0, 10, 20, 40, 80, 160, 300, 300, 300]

    def test_ten_quiet_minutes_are_forgiven(self):
        assert live_and_fail([3.0, 3.0, 599.0, 600.0, 3.0]) == [0, 10, 20, 0, 10]

    def test_our_own_wait_is_not_quiet(self):
        """After five minutes of waiting, a life of six is not ten quiet minutes."""
        assert live_and_fail([3.0] * 7 + [360.0])[-1] == 300

    def test_another_revision_starts_anew(self):
        old = Failure(0, "old", "before", 6, T0, Crash("x-0"))
        seen = Observed((failed(0, "now", T0, T0 + 3),), failures=(old,))
        assert plan_recovery(group_line(workload(), seen), T0 + 3).failures[0].count == 1

    def test_a_group_that_became_stale_waits_on(self):
        """A stale group may have no revision for the plan, but its engine is the same."""
        held = (Failure(0, "new", "life", 3, T0, Crash("x-0")),)
        stale = failed(0, "life", T0, T0, group={"revision": ""})
        found = plan_recovery(group_line(workload(), Observed((stale,), failures=held)), T0 + 1)
        assert (found.restarts, found.failures, found.waits) == ((), held, {0: 19.0})

    def test_a_deleted_member_is_replaced_without_backoff(self):
        gone = replace(group(0, "life"), lost=("x-0-1",))
        held = (Failure(0, "new", "before", 6, T0, Crash("x-0")),)
        found = plan_recovery(group_line(workload(), Observed((gone,), failures=held)), T0 + 1)
        assert [restart.cause for restart in found.restarts] == ["x-0-1"]
        assert found.failures == held

    def test_a_user_who_deletes_a_member_ends_the_wait(self):
        held = (Failure(0, "new", "life", 6, T0, Crash("x-0")),)
        waiting = replace(failed(0, "life", T0, T0), lost=("x-0-1",))
        assert plan_recovery(
            group_line(workload(), Observed((waiting,), failures=held)), T0 + 1
        ).restarts

    @pytest.mark.parametrize("jump", [-3600.0, 3600.0])
    def test_a_clock_jump_of_an_hour_delays_no_restart(self, jump: float):
        held = (Failure(0, "new", "life", 2, T0, Crash("x-0", ended_at=T0)),)
        seen = Observed((failed(0, "life", T0, T0),), failures=held)
        assert plan_recovery(group_line(workload(), seen), T0 + jump).restarts

    @pytest.mark.parametrize("count", [1, 2, 40, 10**6])
    def test_waits_are_bounded(self, count: int):
        assert 0 <= wait_seconds(count, USUAL) <= trust_seconds(count, USUAL) <= 300

    def test_a_user_says_how_long_units_wait(self):
        waits = live_and_fail([3.0] * 6, Backoff(base_seconds=4.0, max_seconds=20.0))
        assert waits == [0, 4, 8, 16, 20, 20]

    def test_no_base_and_no_maximum_mean_no_wait(self):
        assert live_and_fail([3.0] * 9, Backoff(0.0, 0.0)) == [0] * 9

    def test_a_user_says_how_long_a_unit_has_to_live_to_be_forgiven(self):
        lives = [3.0, 3.0, 59.0, 60.0, 3.0]
        assert live_and_fail(lives, Backoff(quiet_seconds=60.0)) == [0, 10, 20, 0, 10]

    def test_a_record_is_kept_for_as_long_as_a_unit_may_wait_for_it(self):
        waiting = Failure(1, "new", "life", 12, T0, Crash("x-1"))
        seen = (failed(0, "now", T0, T0 + 5000), failed(1, "life", T0 - 9, T0))
        asked = workload(backoff=Backoff(10.0, 7200.0, 14_400.0))
        observed = Observed(seen, failures=(waiting,))
        found = plan_recovery(group_line(asked, observed), T0 + 5000)
        assert found.waits == {1: 2200.0}
        assert waiting in found.failures


def rolling(*groups: Group, **more) -> Observed:
    old = [group(i, f"old-{i}", T0 - 900, group={"revision": "old"}) for i in (0, 1)]
    return Observed((*old, *groups), Progress(2, 3, 2, "new"), 3, **more)


class TestEdited:
    def test_a_group_that_was_edited_is_looked_at_again_when_it_has_lasted(self):
        """No unit waits for it, but the notice of its crashes ends then."""
        held = (Failure(0, "new", "life", 2, T0, Crash("x-0")),)
        edited = group(0, "life", T0, group={"revision": "", "is_edited": True})
        policy = replace(POLICY, partition=1)
        seen = Observed((edited, group(1, "b", T0 - 900)), Progress(1, 2, 2, "new"), 2)
        found = plan(workload(rollout=policy), replace(seen, failures=held), T0 + 9)
        assert found.recheck_seconds == 13.0


class TestSurplus:
    """The user goes back: group 2 stands beyond what is wanted, with a revision that is old."""

    def test_a_group_that_is_old_and_given_back_goes_by_the_count_alone(self):
        served = [group(i, f"new-{i}", T0 - 900) for i in (0, 1)]
        extra = group(2, "extra", group={"revision": "old"})
        seen = Observed((*served, extra), Progress(0, 3, 2, "new"), 3)
        found = plan(workload(), seen, T0 + 60).step.rollout
        assert (found.count, found.replace) == (2, ())

    def test_an_old_extra_group_waits_for_the_count_while_the_last_wanted_one_comes_back(self):
        """Taken down as an old one, it would be one too many before it is back."""
        leaving = group(1, "old-1", group={"revision": "old", "phase": Phase.LEAVING})
        broken = group(2, "extra", group={"revision": "old", "phase": Phase.BROKEN})
        seen = Observed((group(0, "new-0", T0 - 900), leaving, broken))
        progress = Progress(0, 3, 2, "new", is_base=True)
        noted = replace(workload(), reach=Reach.NOTED)
        found = plan(noted, replace(seen, progress=progress), T0 + 60).step
        assert (found.rollout.count, found.retire, found.surplus) == (3, (), frozenset())

    def test_an_old_group_that_is_scaled_away_is_not_taken_down_as_an_old_one(self):
        old = [group(i, f"old-{i}", T0 - 900, group={"revision": "old"}) for i in (0, 1)]
        seen = Observed((*old, group(2, "new-2")), Progress(0, 3, 1, "new", is_base=True))
        asked = workload(rollout=RolloutPolicy(1, max_unavailable=1))
        found = plan(replace(asked, reach=Reach.NOTED), seen, T0 + 3).step
        assert [gone.ordinal for gone in found.retire] == [0]

    def test_a_group_that_failed_and_is_given_back_goes_by_the_count_alone(self):
        served = [group(i, f"new-{i}", T0 - 900) for i in (0, 1)]
        old = {"revision": "old"}
        extra = failed(2, "extra", T0, T0 + 9, group=old, **old)
        held = (Failure(2, "old", "extra", 1, T0 + 9, Crash("x-2")),)
        seen = Observed((*served, extra), Progress(0, 3, 2, "new"), 3, failures=held)
        found = plan(workload(), seen, T0 + 60)
        assert (found.step.rollout.count, found.step.restarts) == (2, ())


class TestHold:
    def test_a_healthy_first_group_is_counted_on_when_it_lasted_as_long_as_its_start(self):
        policy = replace(POLICY, max_unavailable=0)
        for age, boundary in ((2.0, 2), (4.9, 2), (5.0, 1)):
            found = plan(workload(rollout=policy), rolling(group(2, "a")), T0 + age)
            assert found.step.rollout.boundary == boundary, age
        waiting = plan(workload(rollout=policy), rolling(group(2, "a")), T0 + 3)
        assert waiting.recheck_seconds == 2.0
        assert "1 group is ready for too short a time" in waiting.report.blockers[0].message

    def test_a_group_that_was_updated_in_place_is_on_trial_for_as_long_as_that_took(self):
        """Its pod is old, so the trial took ten seconds, whatever the update did."""
        policy = replace(POLICY, max_unavailable=0)
        updated = group(2, "a", T0 - 900, group={"amended_at": T0 - 2}, ready_since=T0)
        for age, boundary in ((2.9, 2), (3.0, 1)):
            found = plan(workload(rollout=policy), rolling(updated), T0 + age)
            assert found.step.rollout.boundary == boundary, age

    def test_compatible_has_no_trial(self):
        policy = replace(POLICY, max_unavailable=0, strategy="compatible")
        assert (
            plan(workload(rollout=policy), rolling(group(2, "a")), T0 + 2).step.rollout.boundary
            == 1
        )

    def test_a_strategy_of_another_package_has_the_trial(self):
        policy = replace(POLICY, strategy="of-another-package")
        state = group_line(workload(rollout=policy), rolling(group(2, "a")))
        assert judge_availability(state, T0 + 2).waits == {2: 3.0}

    @pytest.mark.parametrize("strategy", ["budgeted", "compatible"])
    @pytest.mark.parametrize("count", [1, 3])
    def test_a_failed_group_holds_until_it_was_ready_for_its_next_wait(self, strategy, count):
        held = (Failure(2, "new", "before", count, T0 - 1, Crash("x-2", "engine", 1)),)
        seen, policy = rolling(group(2, "a"), failures=held), replace(POLICY, strategy=strategy)
        until = T0 + 2 + 10 * 2 ** (count - 1)
        found = plan(workload(rollout=policy), seen, until - 1)
        assert (found.step.rollout.boundary, found.step.rollout.count, found.recheck_seconds) == (
            2,
            3,
            1.0,
        )
        assert found.report.blockers[0].reason == "HoldingOnRestarts"
        assert plan(workload(rollout=policy), seen, until).step.rollout.boundary < 2

    def test_a_label_that_another_client_changed_ends_no_hold(self):
        """The carrier knows what a group was made from, and that is what has failed."""
        held = (Failure(2, "new", "before", 1, T0 - 1, Crash("x-2", "engine", 1)),)
        relabelled = group(2, "a", revision="foreign")
        found = plan(workload(), rolling(relabelled, failures=held), T0 + 5)
        assert (found.step.rollout.boundary, found.report.blockers[0].ordinals) == (2, (2,))

    def test_a_hold_lasts_as_long_as_the_backoff_of_the_line(self):
        held = (Failure(2, "new", "before", 1, T0 - 1, Crash("x-2", "engine", 1)),)
        seen = rolling(group(2, "a"), failures=held)
        slow, at_once = (workload(backoff=b) for b in (Backoff(60.0, 600.0), Backoff(0.0, 0.0)))
        assert plan(slow, seen, T0 + 61).step.rollout.boundary == 2
        assert plan(slow, seen, T0 + 62).step.rollout.boundary < 2
        assert plan(at_once, seen, T0 + 3).step.rollout.boundary < 2

    def test_a_hold_of_groups_that_are_made_anew_speaks_of_no_new_revision(self):
        held = (Failure(2, "new", "before", 1, T0 - 1, Crash("x-2", "engine", 1)),)
        seen = rolling(group(2, "a"), failures=held)
        old = tuple(replace(g, is_edited=g.revision != "new") for g in seen.groups)
        texts = [
            plan(workload(), observed, T0 + 3).report.blockers[0].message
            for observed in (seen, replace(seen, groups=old))
        ]
        assert "group 2 of the new revision failed" in texts[0]
        assert "group 2, which was made anew, failed" in texts[1]

    def test_nothing_that_was_released_is_taken_down_while_it_holds(self):
        held = (Failure(2, "new", "a", 1, T0, Crash("x-2")),)
        seen = rolling(failed(2, "a", T0, T0), failures=held)
        released = replace(seen, progress=Progress(1, 3, 2, "new"))
        assert plan(workload(), released, T0 + 1).step.rollout.replace == ()

    def test_a_group_that_was_ready_and_is_not_holds(self):
        slipped = group(2, "a", was_ready=True, ready_since=None, group={"phase": Phase.STARTING})
        assert plan(workload(), rolling(slipped), T0 + 60).step.rollout.boundary == 2
        starting = group(2, "a", ready_since=None, group={"phase": Phase.STARTING})
        assert plan(workload(), rolling(starting), T0 + 60).step.rollout.boundary == 1

    def test_an_old_group_that_failed_and_came_back_in_place_adds_nothing_to_the_budget(self):
        policy = replace(POLICY, max_unavailable=0)
        seen = rolling(group(2, "a"))
        assert plan(workload(rollout=policy), seen, T0 + 60).step.rollout.boundary == 1
        broken = failed(0, "old-0", T0 - 900, T0, group={"revision": "old"})
        hurt = replace(seen, groups=(broken, *seen.groups[1:]))
        assert plan(workload(rollout=policy), hurt, T0 + 60).step.rollout.boundary == 2

    def test_a_set_that_has_just_started_is_not_taken_down_whole(self):
        policy = RolloutPolicy(2, max_unavailable=1, min_ready_seconds=60)
        young = tuple(group(i, f"{i}", T0, group={"revision": "old"}) for i in range(2))
        seen = Observed(young, Progress(2, 2, 2, "new"), 2)
        found = plan(workload(rollout=policy), seen, T0 + 30)
        assert (found.step.rollout.boundary, found.recheck_seconds) == (2, 32.0)
        assert plan(workload(rollout=policy), seen, T0 + 62).step.rollout.boundary == 1

    def test_failures_of_another_revision_hold_nothing(self):
        held = (Failure(0, "old", "old-0", 3, T0, Crash("x-0")),)
        assert (
            plan(workload(), rolling(group(2, "a"), failures=held), T0 + 60).step.rollout.boundary
            < 2
        )

    def test_a_record_of_a_group_that_was_scaled_away_holds_nothing(self):
        held = (Failure(7, "new", "gone", 3, T0, Crash("x-7")),)
        assert (
            plan(workload(), rolling(group(2, "a"), failures=held), T0 + 60).step.rollout.boundary
            < 2
        )

    def test_a_record_of_a_missing_group_that_is_not_released_holds_nothing(self):
        held = (Failure(0, "new", "gone", 3, T0, Crash("x-0")),)
        seen = rolling(group(2, "a"), failures=held)
        without = replace(seen, groups=seen.groups[1:])
        assert plan(workload(), without, T0 + 60).step.rollout.boundary < 2

    def test_an_old_record_holds_no_second_rollout_to_the_same_revision(self):
        held = (Failure(2, "new", "before", 6, T0 - 3600, Crash("x-2")),)
        assert (
            plan(workload(), rolling(group(2, "a"), failures=held), T0 + 60).step.rollout.boundary
            < 2
        )

    def test_a_user_may_scale_down_while_it_holds(self):
        held = (Failure(2, "new", "a", 3, T0, Crash("x-2")),)
        smaller = RolloutPolicy(1, max_unavailable=1, max_surge=1)
        seen = rolling(failed(2, "a", T0, T0), failures=held)
        assert plan(workload(rollout=smaller), seen, T0 + 1).step.rollout.count == 2

    def test_without_recreation_a_member_that_fails_after_it_was_ready_is_recorded(self):
        facts = {"was_ready": True, "ready_since": None, "group": {"phase": Phase.STARTING}}
        seen = rolling(failed(2, "a", T0, T0 + 4, **facts))
        first = plan(workload(Trigger.NEVER), seen, T0 + 5)
        assert (first.step.restarts, first.step.failures[0].count) == ((), 1)
        again = replace(seen, failures=first.step.failures)
        assert plan(workload(Trigger.NEVER), again, T0 + 6).step.failures == first.step.failures

    def test_at_rest_there_is_nothing_to_look_at_again(self):
        done = [group(i, f"{i}", T0) for i in range(2)]
        held = (Failure(1, "new", "before", 3, T0 - 9, Crash("x-1")),)
        seen = Observed(tuple(done), Progress(0, 2, 2, "new"), 2, held)
        found = plan(workload(), seen, T0 + 300)
        assert (found.recheck_seconds, found.report.blockers) == (None, ())
        assert found.step.failures == held


class TestRecords:
    def test_a_record_is_read_as_it_was_written(self):
        crash = Crash("x-3-1", "engine", 137, "OOMKilled", T0 + 0.5)
        records = (
            Failure(0, "r", "u", 1, T0, Crash("x-0")),
            Failure(3, "s", "v", 4, T0 + 1.25, crash),
        )
        assert read_failures([write_failures(records)]) == records

    def test_the_newest_record_of_a_group_counts(self):
        old, new = (Failure(0, "r", "u", n, T0 + n, Crash("x-0")) for n in (1, 2))
        assert read_failures([write_failures([new]), write_failures([old])]) == (new,)

    def test_a_record_on_the_revision_in_force_counts_whatever_clocks_say(self):
        ahead, now = (Failure(0, "r", u, 1, at, Crash("x-0")) for u, at in (("a", T0), ("b", 9.0)))
        texts = [write_failures([ahead]), write_failures([now])]
        assert read_failures(texts, in_force=texts[1]) == (now,)

    def test_records_in_force_replace_those_of_all_other_revisions(self):
        text = write_failures([Failure(0, "r", "u", 1, T0, Crash("x-0"))])
        notes = {"x-first": text, "x-second": "", "x-third": text}
        assert find_replaced(notes, "x-third") == ("x-first",)
        assert find_replaced(notes, "x-second") == ()
        assert find_replaced({**notes, "x-second": "nonsense"}, "x-second") == ()

    def test_a_record_that_is_not_known_in_force_is_not_replaced(self):
        """The user goes back before the failure of a second unit was written there."""
        first, later = (Failure(n, "r", "u", 1, T0 + n, Crash(f"x-{n}")) for n in (1, 3))
        notes = {"x-first": write_failures([first]), "x-second": write_failures([first, later])}
        assert find_replaced(notes, "x-first") == ()
        assert find_replaced(notes, "x-second") == ("x-first",)

    def test_a_record_that_was_forgotten_in_force_is_replaced(self):
        old, new = (Failure(n, "r", "u", 1, T0 + n, Crash(f"x-{n}")) for n in (1, 3))
        notes = {"x-first": write_failures([old]), "x-second": write_failures([new])}
        assert find_replaced(notes, "x-second") == ("x-first",)

    @pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
    def test_a_moment_outside_of_all_years_can_be_written_again(self, at: str):
        text = orjson.dumps({"0": {"incarnation": "u", "count": 1, "at": at}}).decode()
        (record,) = read_failures([text])
        assert record.at == 0.0 and read_failures([write_failures([record])]) == (record,)

    @pytest.mark.parametrize("text", ["", "nonsense", "[]", '{"a": 1}', '{"1": {}}', "null"])
    def test_what_cannot_be_read_is_no_record(self, text: str):
        assert read_failures([text]) == ()

    def test_records_do_not_grow_without_end(self):
        held = tuple(Failure(i, "r", f"u{i}", 1, T0 + i, Crash(f"x-{i}")) for i in range(600))
        new = (Failure(1000, "r", "u", 1, T0 + 1000, Crash("x-1000")),)
        kept = keep_failures(held, new, T0 + 1000, USUAL)
        assert len(kept) == RECORDS_MAX and kept[-1] == new[0]
        assert len(write_failures(kept)) < 200_000
        assert keep_failures(held, new, T0 + 7200, USUAL) == new
