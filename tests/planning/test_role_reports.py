"""What is reported of a role, over groups that roll, are protected, or do not exist yet."""

from dataclasses import replace

import pytest
from line_search import NEW, NOW, OLD, World, group_of
from test_role_rules import start, workload

from kohort.model.observed import Group, Observed
from kohort.model.plans import LineReport
from kohort.model.units import Phase
from kohort.model.workload import Workload
from kohort.planning.plan import plan

SIZES = {"a": 2, "b": 1}


def ask(partition: int = 0, groups: int = 2) -> Workload:
    """Two groups, whose roles roll with them."""
    found = workload(SIZES)
    rollout = replace(found.rollout, wanted=groups, partition=partition)
    roles = tuple(replace(role, rollout=None) for role in found.roles)
    return replace(found, groups=groups, rollout=rollout, roles=roles, has_rollout=True)


def stand(ordinal: int, revision: str, phase: Phase = Phase.READY) -> Group:
    """A group whose roles are of its own revision."""
    world: World = start(SIZES, (revision, phase))
    found = replace(group_of(world, SIZES), ordinal=ordinal, revision=revision, phase=phase)
    return replace(found, roles=tuple(replace(r, revision=revision) for r in found.roles))


def report(asked: Workload, *groups: Group) -> LineReport:
    return plan(asked, Observed(groups, exist=len(groups)), NOW).report.roles["a"]


def test_a_role_of_an_old_group_is_not_updated():
    assert report(ask(), stand(0, OLD), stand(1, NEW)) == LineReport(4, 4, 4, 2, 2, True, False)


def test_a_role_of_a_protected_group_does_not_hold_the_rollout_up():
    found = report(ask(partition=1), stand(0, OLD), stand(1, NEW))
    assert found == LineReport(4, 4, 4, 2, 2, False, True)


@pytest.mark.parametrize("exist", [0, 1])
def test_a_missing_group_lacks_its_instances(exist: int):
    found = report(ask(), *(stand(ordinal, NEW) for ordinal in range(exist)))
    have = 2 * exist
    assert found == LineReport(4, have, have, have, have, False, False)


def test_an_extra_group_stands_in_for_no_other():
    found = report(ask(groups=1), stand(0, NEW, Phase.STARTING), stand(1, NEW))
    assert found == LineReport(2, 4, 2, 4, 2, False, False)
