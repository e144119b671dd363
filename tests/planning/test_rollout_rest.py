"""Outside a rollout the number of units is the one that was asked for, whatever fails."""

import pytest
from planning_builders import progress, units

from kohort.model import policies
from kohort.model.policies import RolloutPolicy
from kohort.planning.rollout import find_strategy

POLICY = RolloutPolicy(wanted=3, max_unavailable=1, max_surge=2)


def test_every_strategy_that_can_be_named_exists():
    assert policies.list_strategies() == policies.STRATEGIES


@pytest.mark.parametrize("strategy", policies.STRATEGIES)
@pytest.mark.parametrize("there", [0, 1, 2, 3])
def test_units_that_are_missing_bring_no_surge(strategy: str, there: int):
    found = units([(True, True)] * there)
    step = find_strategy(strategy)(found, progress(0, 3, 3), "new", POLICY)
    assert (step.boundary, step.count, step.replace) == (0, 3, ())


def test_surge_is_kept_while_the_last_unit_of_a_rollout_is_missing():
    found = [unit for unit in units([(True, True)] * 5) if unit.ordinal != 0]
    step = find_strategy("budgeted")(found, progress(0, 5, 3), "new", POLICY)
    assert step.count == 5
