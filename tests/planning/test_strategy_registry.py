"""Strategies of other packages are found by entry point, and named where one is unknown."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from planning_builders import progress, units

from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy, list_strategies
from kohort.planning.rollout import UnknownStrategy, find_strategy
from kohort.planning.rollout.budgeted import plan_budgeted
from kohort.testing import check_strategy

MODULE = '''
from kohort.model.plans import Rollout
from kohort.planning.rollout.budgeted import plan_budgeted


def plan_slowly(units, progress, target, policy):
    """One unit at a time, whatever the user allows."""
    step = plan_budgeted(units, progress, target, policy)
    if progress is None or progress.target != target:
        return step
    return Rollout(max(step.boundary, progress.boundary - 1), step.count, step.replace[:1])


def plan_at_once(units, progress, target, policy):
    """All units, whatever the budget is."""
    return Rollout(0, policy.wanted)
'''
POINTS = """
[kohort.rollout_strategies]
slow = slow_rollouts:plan_slowly
budgeted = slow_rollouts:plan_at_once
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package that brings strategies."""
    (tmp_path / "slow_rollouts.py").write_text(MODULE)
    about = tmp_path / "slow_rollouts-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-rollouts\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    clear()
    yield
    clear()
    sys.modules.pop("slow_rollouts", None)


def clear() -> None:
    list_strategies.cache_clear()
    find_strategy.cache_clear()


def test_a_strategy_of_another_package_is_found(package):
    assert list_strategies() == ("budgeted", "compatible", "slow")
    policy = RolloutPolicy(3, max_unavailable=3)
    step = find_strategy("slow")(units([(True, False)] * 3), progress(3, 3, 3), "new", policy)
    assert step.boundary == 2


def test_a_built_in_name_cannot_be_taken(package):
    assert find_strategy("budgeted").__name__ == "plan_budgeted"


def test_the_search_passes_a_strategy_that_keeps_the_budget(package):
    assert check_strategy(find_strategy("slow")) == []


def test_the_search_finds_a_strategy_that_does_not(package):
    from slow_rollouts import plan_at_once

    assert any("without the budget" in found for found in check_strategy(plan_at_once))


BROKEN = {
    "it raised ZeroDivisionError": lambda units, progress, target, policy: 1 // 0,
    "it returned 1, which is no Rollout": lambda units, progress, target, policy: 1,
    "it released units below the partition, from 0 on": lambda units, progress, target, policy: (
        replace(plan_budgeted(units, progress, target, policy), boundary=0)
    ),
    "the rollout never ends": lambda units, progress, target, policy: Rollout(
        policy.wanted, policy.wanted
    ),
    "for the same units in another order": lambda units, progress, target, policy: Rollout(
        units[0].ordinal if units else 0, policy.wanted
    ),
}
KEPT = (RolloutPolicy(2, partition=1, max_unavailable=1, max_surge=1),)


@pytest.mark.parametrize("sentence", BROKEN)
def test_the_search_says_what_is_wrong_and_in_which_state(sentence: str):
    [fault] = check_strategy(BROKEN[sentence], KEPT)
    assert fault.startswith("2 wanted, 1 down, 1 extra, partition 1: ")
    assert sentence in fault
    if "never ends" not in sentence:
        assert "unit 0 old and ready, unit 1 old and ready" in fault


def test_an_unknown_strategy_is_named():
    with pytest.raises(UnknownStrategy, match="no rollout strategy is called nope"):
        find_strategy("nope")
