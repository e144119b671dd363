"""Which members take their unit down, in every state of a unit of two members."""

from dataclasses import replace

import pytest
from line_search import instance_policy
from member_search import (
    CRASHED,
    ENDED,
    LEAVING,
    LINE,
    MISSING,
    NOW,
    READY,
    STARTING,
    UnitWorld,
    search,
)

from kohort.model.plans import Step
from kohort.model.policies import RecoveryPolicy, Trigger
from kohort.model.units import Level
from kohort.planning.lines import LineState
from kohort.planning.step import plan_step

AFTER_READY = RecoveryPolicy(Trigger.AFTER_READY, Level.INSTANCE, spares_deleted=True)
POLICIES = {
    "after ready": replace(AFTER_READY, spares_deleted=False),
    "after ready, deleted ones spared": AFTER_READY,
    "always, deleted ones spared": replace(AFTER_READY, trigger=Trigger.ALWAYS),
    "never, deleted ones spared": replace(AFTER_READY, trigger=Trigger.NEVER),
    "no policy of this level": None,
}
NOTHING = UnitWorld((MISSING, MISSING))


def plan(world: UnitWorld, policy: RecoveryPolicy | None = AFTER_READY) -> Step:
    units = (world.instance(),)
    state = LineState(LINE, "new", instance_policy(1, 1), units, failures=world.failure())
    return plan_step(replace(state, recovery=policy), NOW)


def has_failed(world: UnitWorld, *, is_over: bool = False) -> bool:
    """Whether a member that is not spared crashed or ended; it may have got over it."""
    own = [(i, s) for i, s in enumerate(world.members) if i not in world.spared]
    return any(s in (CRASHED, ENDED) or (is_over and i in world.restarted) for i, s in own)


def check_restarts(policy: RecoveryPolicy | None):
    def check(before: UnitWorld, after: UnitWorld, step: Step) -> str:
        may_fail = policy is not None and policy.trigger is not Trigger.NEVER
        is_up = before.has_served or (policy and policy.trigger is Trigger.ALWAYS)
        if step.retire and not (may_fail and (before.is_recorded or not policy.spares_deleted)):
            return "taken down without a failure"
        if step.retire and not (is_up or before.is_recorded):
            return "taken down before it was ready"
        new = [f for f in step.failures if f not in before.failure()]
        if may_fail and new and not has_failed(before, is_over=policy.trigger is Trigger.ALWAYS):
            return "a failure is recorded of a member that is spared"
        if may_fail and is_up and has_failed(before) and not before.is_recorded:
            entry = before.members[0] in (MISSING, LEAVING)
            return "" if entry or step.failures or step.retire else "a failure is not recorded"
        return ""

    return check


def is_well(world: UnitWorld, policy: RecoveryPolicy | None) -> bool:
    is_restarted = policy is None or policy.trigger is Trigger.NEVER or not world.is_recorded
    return all(state == READY for state in world.members) and is_restarted


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("spared", [(), (0,), (1,)], ids=["none spared", "entry", "worker"])
def test_a_unit_is_taken_down_only_for_a_failure_that_counts_and_is_always_whole_again(
    name, spared
):
    policy = POLICIES[name]
    start = replace(NOTHING, spared=frozenset(spared))
    found = search(
        start, lambda w: plan(w, policy), check_restarts(policy), lambda w: is_well(w, policy)
    )
    assert not found


def test_a_restart_that_was_broken_off_goes_on():
    """The member that failed is deleted already, and deletions say nothing here."""
    half = UnitWorld((READY, LEAVING), has_served=True, record=(1, 0, False))
    assert [gone.ordinal for gone in plan(half).retire] == [0]
    assert plan(replace(half, record=None)).retire == ()


def test_a_crash_from_which_a_member_recovered_before_the_unit_served_restarts_nothing():
    served = UnitWorld((READY, READY), frozenset({1}), has_served=True)
    assert plan(served).retire == () and plan(served).failures == ()
    crashed = plan(replace(served, members=(READY, CRASHED)))
    assert [failure.count for failure in crashed.failures] == [1]


def test_a_unit_whose_members_recovered_during_its_wait_is_made_anew_all_the_same():
    waiting = UnitWorld((READY, READY), frozenset({1}), has_served=True, record=(3, 0, False))
    assert plan(waiting).backing_off == {0} and plan(waiting).retire == ()
    assert plan(replace(waiting, record=(3, 0, True))).retire


def test_before_it_was_ready_members_that_ended_are_renewed_alone():
    for members in ((STARTING, ENDED), (ENDED, STARTING)):
        step = plan(UnitWorld(members))
        assert step.retire == () and step.failures == ()
        assert step.renew == ((0, f"x-{members.index(ENDED)}"),)


@pytest.mark.parametrize("index", [0, 1], ids=["entry", "worker"])
def test_a_spared_member_that_ended_is_renewed_alone(index):
    members = tuple(ENDED if i == index else READY for i in range(2))
    spared = UnitWorld(members, has_served=True, spared=frozenset({index}))
    for policy in (AFTER_READY, RecoveryPolicy(Trigger.ALWAYS, Level.INSTANCE)):
        step = plan(spared, policy)
        assert (step.retire, step.renew) == ((), ((0, f"x-{index}"),))


def test_a_spared_member_that_was_deleted_takes_nothing_down_under_any_policy():
    always = RecoveryPolicy(Trigger.ALWAYS, Level.INSTANCE)
    deleted = UnitWorld((READY, LEAVING), has_served=True)
    assert plan(deleted, always).retire
    assert not plan(replace(deleted, spared=frozenset({1})), always).retire


@pytest.mark.parametrize("index", [0, 1], ids=["entry", "worker"])
def test_a_member_that_was_deleted_is_made_anew_alone(index):
    members = tuple(MISSING if i == index else READY for i in range(2))
    gone = UnitWorld(members, known=frozenset({0, 1}), has_served=True)
    step = plan(gone)
    assert step.retire == () and step.may_complete == {0}
