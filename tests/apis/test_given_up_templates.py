"""A group is abandoned where neither a carrier nor a group that serves has its template."""

from kohort.apis.carriers.abandoned import mark_abandoned
from kohort.model.observed import Group
from kohort.model.units import Phase

STARTING, READY, LEAVING = Phase.STARTING, Phase.READY, Phase.LEAVING


def find_abandoned(*states: tuple[Phase, str]) -> list[int]:
    """The abandoned ones of groups from (phase, template), lowest ordinal first."""
    groups = [Group(i, "", phase, f"u{i}", 1) for i, (phase, _) in enumerate(states)]
    templates = {f"u{i}": template for i, (_, template) in enumerate(states)}
    found = mark_abandoned(groups, templates, ("old", "new"))
    return [group.ordinal for group in found if group.is_abandoned]


def test_a_template_between_base_and_target_that_serves_nowhere_is_given_up():
    assert find_abandoned((STARTING, "bad"), (Phase.BROKEN, "bad"), (READY, "old")) == [0, 1]


def test_a_group_stays_while_another_of_its_template_serves():
    assert find_abandoned((STARTING, "slow"), (READY, "slow"), (READY, "old")) == []


def test_what_the_carrier_makes_again_or_is_gone_already_is_not_given_up():
    assert find_abandoned((STARTING, "old"), (STARTING, "new"), (LEAVING, "bad")) == []


def test_a_group_whose_template_is_unknown_is_not_given_up():
    assert find_abandoned((STARTING, ""), (READY, "old")) == []
