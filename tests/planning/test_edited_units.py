"""
Units that another client edited are replaced as the budget allows, and cost no other unit.

What is recorded of their failures holds on.
"""

from dataclasses import replace

import pytest

from kohort.model.observed import Crash, Failure, Group, Instance, Member, Observed, Progress
from kohort.model.policies import RecoveryPolicy, RolloutPolicy, Trigger
from kohort.model.units import Line, Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.lines import LineState
from kohort.planning.plan import plan
from kohort.planning.recovery import plan_recovery

READY = Phase.READY
T0 = 1_800_000_000.0
ALWAYS = RecoveryPolicy(Trigger.ALWAYS)


def group(ordinal: int, revision: str, *, is_edited: bool = False) -> Group:
    return Group(ordinal, revision, READY, f"u{ordinal}", 1, is_edited=is_edited)


def workload(reach: Reach) -> Workload:
    return Workload(
        *("default", "x", "uid", 1),
        groups=3,
        roles=(Role(),),
        revision="new",
        rollout=RolloutPolicy(3, max_unavailable=1),
        reach=reach,
    )


@pytest.mark.parametrize(
    ("reach", "boundary"), [(Reach.ANY, 0), (Reach.NOTED, 3), (Reach.SUFFIX, 3)]
)
def test_an_edited_unit_that_the_budget_keeps_raises_no_boundary_where_units_are_made_singly(
    reach: Reach, boundary: int
):
    seen = Observed(
        groups=(group(0, "old"), group(2, "foreign", is_edited=True)),
        progress=Progress(boundary=0, count=3, noted=3, target="new", base="old"),
        exist=2,
    )
    step = plan(workload(reach), seen, 0.0).step
    assert step.rollout.boundary == boundary
    if reach is Reach.ANY:
        assert [(made.ordinal, made.revision) for made in step.make] == [(1, "new")]


def test_an_edited_unit_goes_before_old_ones_that_no_step_has_released():
    """Where units are made singly, a boundary of 0 releases none of them."""
    member = Member("x-2", "u2", 0, "new", READY, ready_since=T0 - 60)
    new = replace(group(2, "new"), members=(member,))
    seen = Observed(
        groups=(group(0, "old"), group(1, "", is_edited=True), new),
        progress=Progress(boundary=0, count=3, noted=3, target="new", is_seen=True),
        exist=3,
    )
    assert plan(workload(Reach.ANY), seen, T0).step.rollout.replace == (1,)


def test_a_failure_counts_for_the_revision_before_the_edit_whatever_the_members_name():
    """The members of an instance name the revision of the workload, not that of their role."""
    line, crash = Line(0, "a"), Crash("x-0-a-0-0", "engine", 1, "Error", T0)
    member = Member("x-0-a-0-0", "life", 0, "new", Phase.BROKEN, has_restarted=True, crash=crash)
    edited = Instance(
        *(0, "", Phase.BROKEN, "life", 1, (member,)), made_from="role", made_at=T0, is_edited=True
    )
    before = Failure(0, "role", "life before", 1, T0 - 60, crash, line)
    state = LineState(line, "role", None, (edited,), failures=(before,), recovery=ALWAYS)
    (found,) = plan_recovery(state, T0 + 1).failures
    assert (found.revision, found.incarnation, found.count) == ("role", "life", 2)
