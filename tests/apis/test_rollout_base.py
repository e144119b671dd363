"""What a lost group below the boundary is made from: the last revision on which all have served."""

import pytest

from kohort.apis.carriers.pods import Note, settle_base
from kohort.model.observed import Group, Progress
from kohort.model.units import Phase

DONE = Note(Progress(boundary=0, count=2, noted=2, target="new"), base="old", turn=2)
STORED = {"old", "new"}


def group(ordinal: int, revision: str = "new", phase: Phase = Phase.READY) -> Group:
    return Group(ordinal, revision, phase, incarnation=f"uid-{ordinal}", size=1)


def test_a_target_on_which_all_groups_serve_is_the_next_base():
    assert settle_base(DONE, [group(0), group(1)], STORED) == "new"


@pytest.mark.parametrize(
    "groups",
    [
        [group(1)],
        [group(0, phase=Phase.STARTING), group(1)],
        [group(0, "old"), group(1)],
    ],
    ids=["missing", "not serving", "old"],
)
def test_a_target_that_not_all_groups_serve_on_is_no_base(groups: list[Group]):
    assert settle_base(DONE, groups, STORED) == "old"


def test_a_base_that_was_put_aside_is_followed_by_the_target():
    assert settle_base(DONE, [group(1)], {"new"}) == "new"
