"""A group on a template that was given up is made anew if nothing else ends the wait for it."""

from dataclasses import replace

import pytest

from kohort.model.observed import Group, Member, Observed, Progress
from kohort.model.plans import Plan
from kohort.model.policies import RecoveryPolicy, RolloutPolicy, Trigger
from kohort.model.units import Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.plan import plan

NOW = 1_800_000_000.0
PROGRESS = Progress(boundary=3, count=3, noted=3, target="new", base="old")


def group(ordinal: int, revision: str, phase: Phase = Phase.READY) -> Group:
    since = NOW - 60 if phase is Phase.READY else None
    member = Member(f"x-{ordinal}", f"u{ordinal}", 0, revision, phase, ready_since=since)
    return Group(ordinal, revision, phase, member.uid, 1, members=(member,))


POLICY = RolloutPolicy(3, max_unavailable=1)
BAD = replace(group(0, "bad", Phase.STARTING), is_abandoned=True)
GROUPS = (BAD, group(1, "old"), group(2, "old"))


def decide(
    *groups: Group,
    progress: Progress = PROGRESS,
    policy: RolloutPolicy = POLICY,
    reach: Reach = Reach.SUFFIX,
) -> Plan:
    workload = Workload(
        *("default", "x", "uid", 1),
        groups=3,
        roles=(Role(),),
        revision="new",
        rollout=policy,
        recovery=RecoveryPolicy(Trigger.ALWAYS),
        reach=reach,
    )
    return plan(workload, Observed(groups, progress, len(groups)), NOW)


def gone(decided: Plan) -> list[int]:
    return [retired.ordinal for retired in decided.step.retire]


@pytest.mark.parametrize("reach", [Reach.SUFFIX, Reach.NOTED])
def test_it_goes_where_the_groups_above_it_have_to_serve(reach: Reach):
    decided = decide(*GROUPS, reach=reach)
    assert gone(decided) == [0]
    assert decided.step.rollout.boundary == 3


def test_it_waits_for_a_group_of_the_target_that_starts():
    starting = group(2, "new", Phase.STARTING)
    assert gone(decide(*GROUPS[:2], starting, progress=replace(PROGRESS, boundary=2))) == []


def test_it_waits_while_another_step_comes_first():
    decided = decide(*GROUPS, policy=replace(POLICY, max_unavailable=2))
    assert (gone(decided), decided.step.rollout.boundary) == ([], 2)


@pytest.mark.parametrize("reach", [Reach.SUFFIX, Reach.NOTED])
def test_it_waits_until_the_carrier_has_seen_the_last_step(reach: Reach):
    assert gone(decide(*GROUPS, progress=replace(PROGRESS, is_seen=False), reach=reach)) == []


@pytest.mark.parametrize(
    "policy",
    [
        replace(POLICY, partition=1),
        replace(POLICY, is_paused=True),
    ],
    ids=["partition", "pause"],
)
def test_the_user_may_keep_it(policy: RolloutPolicy):
    assert gone(decide(*GROUPS, policy=policy)) == []


def test_its_restart_after_a_failure_is_left_to_recovery():
    """The failure is recorded first, and the backoff decides when the group goes."""
    member = replace(BAD.members[0], has_restarted=True)
    decided = decide(replace(BAD, members=(member,)), *GROUPS[1:])
    assert [failure.ordinal for failure in decided.step.failures] == [0]
    assert gone(decided) == []
