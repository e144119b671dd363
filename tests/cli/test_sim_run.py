"""``kohort sim run``: whose workloads are drawn, and how a run is named."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_lines import Cli, Told

from kohort.model.policies import list_strategies
from kohort.planning.rollout import find_strategy
from plugin_packages import write_metadata

RunKohort = Callable[..., Told]
ROLLOUT = str(Path(__file__).parents[2] / "examples" / "scenarios" / "rollout.yaml")
HASTY = '''
from dataclasses import replace

from kohort.planning.rollout.budgeted import plan_budgeted


def plan(units, progress, target, policy):
    """As budgeted, with twice the budget of the user."""
    return plan_budgeted(
        units, progress, target, replace(policy, max_unavailable=2 * policy.max_unavailable)
    )
'''


@pytest.fixture
def hasty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with a strategy that breaks its budget, and with one that does not load."""
    (tmp_path / "hasty_rollouts.py").write_text(HASTY)
    points = ["hasty = hasty_rollouts:plan", "odd = no_such_module:plan"]
    write_metadata(tmp_path, "hasty", {"kohort.rollout_strategies": points})
    monkeypatch.syspath_prepend(str(tmp_path))
    clear()
    yield
    clear()
    sys.modules.pop("hasty_rollouts", None)


def clear() -> None:
    list_strategies.cache_clear()
    find_strategy.cache_clear()


def test_a_seed_is_run_for_each_api_that_is_named(tmp_path):
    told = Cli(tmp_path)("sim", "run", "--seed", "3", "--apis", "lws,ms", "-o", "json")
    runs = [json.loads(line) for line in told.out.splitlines()]
    assert [run["name"] for run in runs] == ["seed 3", "seed 3 of ms"]
    assert [run["play"]["api"] for run in runs] == ["lws", "ms"]
    assert told.code == 0, told.out


def test_an_api_that_cannot_be_simulated_is_refused(tmp_path):
    told = Cli(tmp_path)("sim", "run", "--apis", "ms,zzz")
    assert told.code == 2
    assert "'zzz' cannot be simulated; there are: lws, ms" in told.err


def compare(run_kohort: RunKohort, *words: str) -> tuple[int, dict[str, dict]]:
    told = run_kohort("sim", "run", *words, "--workers", "1", "-o", "json")
    assert told.code in (0, 1), told.err
    return told.code, {each["strategy"]: each for each in json.loads(told.out)}


def test_strategies_are_compared_on_the_same_scenario(run_kohort: RunKohort, hasty):
    code, found = compare(run_kohort, ROLLOUT, "--strategy", "hasty", "--compare", "budgeted")
    assert code == 1
    assert list(found) == ["hasty", "budgeted"]
    fast, safe = found.values()
    assert (fast["leastReady"], safe["leastReady"]) == (
        {"ready": 4, "wanted": 8},
        {"ready": 6, "wanted": 8},
    )
    assert fast["rolloutSeconds"] < safe["rolloutSeconds"]
    assert fast["breaches"] and not safe["breaches"]
    [run] = fast["runs"]
    assert run["scenario"] == ROLLOUT
    assert "A3: (8, 8) to (4, 8) leaves 4 groups that serve, 6 are promised" in run["breaches"][0]


def test_the_table_says_which_promise_was_broken(run_kohort: RunKohort, hasty):
    words = ("--compare", "hasty", "--workers", "1")
    told = run_kohort("sim", "run", ROLLOUT, "--strategy", "budgeted", *words)
    assert told.code == 0, "the strategy that was chosen keeps every promise"
    head, safe, fast, breach = told.out.splitlines()
    assert head.split("   ") == ["STRATEGY", "RUNS", "BREACHES", "ROLLOUT", "LEAST READY", "WRITES"]
    assert safe.split()[:3] == ["budgeted", "1", "0"] and "6/8" in safe
    assert fast.split()[0] == "hasty" and "4/8" in fast
    assert breach.startswith(f"! hasty, {ROLLOUT}: A3: (8, 8) to (4, 8) leaves 4 groups")


def test_seeds_are_compared_for_each_api_and_always_the_same_ones(run_kohort: RunKohort):
    words = ("--seeds", "1", "--first", "3", "--apis", "lws,ms,rbg", "--compare", "compatible")
    _, found = compare(run_kohort, *words)
    names = [[run["scenario"] for run in each["runs"]] for each in found.values()]
    assert names == [["seed 3", "seed 3 of ms", "seed 3 of rbg"]] * 2
    assert list(found) == ["budgeted", "compatible"]


def test_one_seed_runs_with_a_strategy(run_kohort: RunKohort, hasty):
    told = run_kohort("sim", "run", "--seed", "3", "--strategy", "hasty", "-o", "json")
    assert json.loads(told.out.splitlines()[0])["play"]["strategy"] == "hasty"


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--compare", "hasti"), 2, "unknown rollout strategy 'hasti' (did you mean 'hasty'?)"),
        (("--strategy", "odd"), 1, "rollout strategy odd does not load: ModuleNotFoundError"),
        (("--compare", "hasty", "--apis", "isvc"), 2, "isvc has no rollout strategies"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    run_kohort: RunKohort, hasty, words: tuple[str, ...], code: int, sentence: str
):
    told = run_kohort("sim", "run", *words)
    assert told.code == code
    assert sentence in told.err
