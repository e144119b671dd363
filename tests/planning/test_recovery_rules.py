"""What a failed member takes down with it, and who may start."""

from dataclasses import replace

import pytest

from kohort.model.observed import Group, Member, Observed
from kohort.model.plans import Restart
from kohort.model.policies import RecoveryPolicy, RolloutPolicy, Startup, Trigger
from kohort.model.units import Phase
from kohort.model.workload import Role, Workload
from kohort.planning.lines import group_line
from kohort.planning.recovery import plan_recovery
from kohort.planning.startup import plan_startup
from kohort.planning.status import plan_report

READY, LEAVING = Phase.READY, Phase.LEAVING
NOW = 1_000_000.0


def member(index: int, phase: Phase = READY, **more) -> Member:
    return Member(f"x-0-{index}", f"uid-{index}", index, "new", phase, **more)


def group(ordinal: int = 0, *members: Member, phase: Phase = READY, **more) -> Group:
    members = members or (member(0), member(1), member(2))
    return Group(ordinal, "new", phase, f"leader-{ordinal}", 3, members, **more)


def workload(trigger: Trigger = Trigger.ALWAYS, groups: int = 1, **more) -> Workload:
    return Workload(
        *("default", "x", "uid", 1),
        groups=groups,
        roles=(Role(size=3),),
        revision="new",
        rollout=more.pop("rollout", RolloutPolicy(groups)),
        recovery=RecoveryPolicy(trigger),
        **more,
    )


def restarts(workload: Workload, observed: Observed) -> tuple[Restart, ...]:
    """Who is restarted, once what failed by itself has been recorded."""
    recorded = plan_recovery(group_line(workload, observed), NOW).failures
    return plan_recovery(group_line(workload, replace(observed, failures=recorded)), NOW).restarts


class TestRecovery:
    def test_a_healthy_group_is_left_alone(self):
        assert restarts(workload(), Observed((group(),))) == ()

    @pytest.mark.parametrize(
        "failed",
        [member(1, LEAVING), member(1, has_restarted=True), member(0, has_restarted=True)],
        ids=["deleted", "restarted", "entry restarted"],
    )
    def test_a_failed_member_restarts_its_group_once(self, failed):
        others = [member(i) for i in range(3) if i != failed.index]
        found = restarts(workload(), Observed((group(0, failed, *others), group(1))))
        assert [(r.ordinal, r.incarnation, r.cause) for r in found] == [
            (0, "leader-0", failed.name)
        ]

    def test_a_member_that_was_replaced_behind_our_back_counts(self):
        """Upstream lets the lone member be replaced, and the old group lives on."""
        found = restarts(workload(), Observed((group(lost=("x-0-2",)),)))
        assert [r.cause for r in found] == ["x-0-2"]

    def test_a_group_that_leaves_already_is_not_restarted_again(self):
        """lws#804: one failure, one restart."""
        leaving = group(0, member(0, LEAVING), member(1, LEAVING), phase=LEAVING)
        assert restarts(workload(), Observed((leaving,))) == ()

    def test_leftovers_of_an_earlier_incarnation_start_nothing(self):
        """lws#805."""
        stale = member(2, LEAVING, is_current=False)
        assert restarts(workload(), Observed((group(0, member(0), member(1), stale),))) == ()

    def test_with_no_policy_nothing_is_restarted(self):
        failed = group(0, member(0), member(1, has_restarted=True), member(2))
        assert restarts(workload(Trigger.NEVER), Observed((failed,))) == ()

    def test_a_group_that_still_forms_is_left_to_form_if_the_user_says_so(self):
        forming = group(0, member(0, has_restarted=True), member(1, is_pending=True))
        assert restarts(workload(Trigger.AFTER_START), Observed((forming,))) == ()
        assert restarts(workload(Trigger.ALWAYS), Observed((forming,))) != ()


class TestStartup:
    def test_groups_that_start_together_wait_for_no_leader(self):
        starting = group(0, member(0, Phase.STARTING), phase=Phase.STARTING)
        assert plan_startup(group_line(workload(), Observed((starting,)))) == {0}

    def test_the_entry_comes_first_where_it_has_to_be_ready(self):
        waiting = workload(startup=Startup.ENTRY_FIRST)
        starting = group(0, member(0, Phase.STARTING), phase=Phase.STARTING)
        started = replace(starting, members=(member(0),))
        assert plan_startup(group_line(waiting, Observed((starting,)))) == frozenset()
        assert plan_startup(group_line(waiting, Observed((started,)))) == {0}

    def test_a_leaving_group_gets_no_new_member(self):
        assert (
            plan_startup(group_line(workload(), Observed((group(phase=LEAVING),)))) == frozenset()
        )


class TestReport:
    def test_all_groups_ready_is_available(self):
        report = plan_report(workload(groups=2), Observed((group(0), group(1)), exist=2))
        assert report.is_available and report.is_done
        assert (report.groups, report.groups_ready, report.groups_updated) == (2, 2, 2)

    def test_surge_groups_count_but_do_not_make_it_available(self):
        seen = Observed((group(0, phase=Phase.STARTING), group(1)), exist=2)
        report = plan_report(workload(groups=1), seen)
        assert report.groups_ready == 1
        assert not report.is_available

    def test_half_a_group_is_not_counted(self):
        seen = Observed((group(0), group(1, is_whole=False)), exist=2)
        report = plan_report(workload(groups=2), seen)
        assert (report.groups_ready, report.rolled) == (1, 1)

    def test_groups_below_the_partition_may_be_old(self):
        policy = RolloutPolicy(2, partition=1)
        old = replace(group(0), revision="old")
        report = plan_report(workload(groups=2, rollout=policy), Observed((old, group(1)), exist=2))
        assert report.is_available and not report.is_updating and not report.is_done

    def test_a_group_that_is_counted_and_not_seen_may_be_of_another_revision(self):
        report = plan_report(workload(groups=2), Observed((group(0), group(1)), exist=3))
        assert report.is_available and not report.is_done

    def test_no_groups_wanted_is_available(self):
        assert plan_report(workload(groups=0), Observed()).is_available
