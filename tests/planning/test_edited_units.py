"""Units that another client edited are replaced as the budget allows, and cost no other unit."""

import pytest

from kohort.model.observed import Group, Observed, Progress
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Reach
from kohort.model.workload import Role, Workload
from kohort.planning.plan import plan

READY = Phase.READY


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
