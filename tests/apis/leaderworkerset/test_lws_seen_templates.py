"""What a leader was made from, where the watches of pods and of sets are not in step."""

import pytest

from kohort.apis.edits import Edit
from kohort.apis.facts import Meta, SetFacts, SetStatusFacts
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.drift.sets import (
    Drift,
    find_premise,
    is_behind,
    judge_revision,
)
from kohort.cluster.actions import Premise
from kohort.cluster.kinds import STATEFUL_SET
from kohort.cluster.port import Address

NUMBERS = {"x-first": 1, "x-second": 2, "x-third": 3}


def leader_set(update: str = "x-second") -> SetFacts:
    """The leader set as the operator sees it, which has the template ``update``."""
    status = SetStatusFacts(
        observed_generation=1, current_revision="x-second", update_revision=update
    )
    marks = {labels.REVISION: "target"}
    return SetFacts(
        Meta(name="x", namespace="lab", uid="u", generation=1, labels=marks), status=status
    )


@pytest.mark.parametrize(
    ("made_from", "is_old"),
    [
        ({"x-second"}, False),
        ({"x-second", "x-third"}, True),
        ({"x-first", "x-second"}, False),
        ({"x-second", "x-deleted"}, False),
        (set(), False),
    ],
)
def test_only_a_leader_of_a_newer_template_shows_that_the_set_is_an_old_view(
    made_from: set[str], is_old: bool
):
    assert is_behind(leader_set(), made_from, lambda: NUMBERS) is is_old


def test_a_leader_of_a_template_that_is_in_force_again_shows_that_the_set_is_an_old_view():
    """Another client changed the template and back: the older one gets the highest number."""
    numbers = {"x-second": 4, "x-third": 3}
    assert is_behind(leader_set("x-third"), {"x-second"}, lambda: numbers)
    assert not is_behind(leader_set("x-third"), {"x-second"}, lambda: NUMBERS)


def test_a_set_whose_own_template_is_not_numbered_is_taken_as_it_is():
    assert not is_behind(leader_set("x-deleted"), {"x-third"}, lambda: NUMBERS)
    assert not is_behind(None, {"x-third"}, lambda: NUMBERS)


@pytest.mark.parametrize("made_from", ["x-first", "x-second", "x-deleted"])
def test_a_leader_of_a_template_that_is_not_in_force_is_deleted_if_the_set_is_confirmed(
    made_from: str,
):
    """An unnumbered template may be the newest or a deleted one, an older one in force again."""
    confirmed = Premise(Address(STATEFUL_SET, "lab", "x"), "u", generation=1)
    assert find_premise(leader_set("x-third"), "target", made_from) == confirmed


@pytest.mark.parametrize("made_from", ["x-third", ""])
def test_a_leader_of_the_template_in_force_is_deleted_without_a_question(made_from: str):
    assert find_premise(leader_set("x-third"), "target", made_from) is None


@pytest.mark.parametrize("label", ["before", ""])
def test_a_leader_of_another_revision_is_deleted_without_a_question(label: str):
    """The plan that deletes it may write the set as well, and so change its generation."""
    assert find_premise(leader_set(), label, "x-first") is None


def test_without_a_leader_set_there_is_nothing_to_confirm():
    assert find_premise(None, "target", "x-third") is None


def test_a_leader_of_a_template_that_is_not_seen_yet_keeps_the_revision_of_its_label():
    assert judge_revision("target", "x-third", leader_set(), Drift()) == ""
    assert judge_revision("target", "x-third", leader_set(), Drift(is_unseen=True)) == "target"


def test_beside_edits_a_leader_of_a_template_that_is_not_seen_yet_has_no_revision():
    edits = (Edit(("f:spec", "f:template", "f:spec"), "kubectl"),)
    drift = Drift(edits, is_unseen=True)
    assert judge_revision("target", "x-third", leader_set(), drift) == ""
