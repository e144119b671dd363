"""
Simulations: fixed seeds with faults, and the corpus; every promise is kept.

Fresh seeds are no test, since they are others each time: `make search` runs them.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kohort.simulation import run
from kohort.simulation.checkers.truth import Truth
from kohort.simulation.choices import Choices
from kohort.simulation.economy import simulate_with_economy
from kohort.simulation.faults import draw_scenario
from kohort.simulation.run import simulate
from kohort.simulation.scenario import Fault, Scenario
from kohort.simulation.scenario_files import (
    ScenarioError,
    ScenarioFile,
    load_scenario,
    write_scenario,
)

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.yaml"))
SEEDS, ITEMS = 300, 12
REPLAY = "replay it with: kohort sim run --seed {}"


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS, SEEDS // ITEMS))
def test_fixed_seeds_keep_every_promise(first: int):
    for seed in range(first, first + SEEDS // ITEMS):
        outcome = simulate(draw_scenario(seed))
        assert outcome.is_good, f"{outcome.breaches[:3]}; {REPLAY.format(seed)}"


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_a_scenario_of_the_corpus_keeps_every_promise(path: Path):
    scenario = load_scenario(path)
    assert scenario.about
    outcome = simulate_with_economy(scenario.scenario)
    assert outcome.is_good, outcome.breaches[:3]


@pytest.mark.parametrize("seed", [3, 12, 27])
def test_one_seed_is_one_run(seed: int):
    assert simulate(draw_scenario(seed)).log == simulate(draw_scenario(seed)).log


def test_one_seed_is_one_run_in_every_process():
    code = "\n".join(
        (
            "from kohort.simulation.faults import draw_scenario",
            "from kohort.simulation.run import simulate",
            "print(*(simulate(draw_scenario(seed)).digest for seed in (5, 8)))",
        )
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_a_scenario_survives_being_written_and_read(tmp_path: Path):
    path = tmp_path / "scenario.yaml"
    for seed in range(20):
        scenario = draw_scenario(seed)
        path.write_text(write_scenario(ScenarioFile("a story", scenario, ("lws#1",))))
        assert load_scenario(path) == ScenarioFile("a story", scenario, ("lws#1",))


def test_recorded_choices_are_taken_again():
    first = Choices(7)
    words = [first.pick("abcdef") for _ in range(20)]
    again = Choices(recorded=first.taken)
    assert [again.pick("abcdef") for _ in range(20)] == words
    assert again.pick("abcdef") == "a"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fautls: []", "a scenario has no key 'fautls'; did you mean 'faults'?"),
        ("workload: {groups: 2}\nzzz: 1", "a scenario has no key 'zzz'; there are: about, faults"),
        ("workload: [groups]", "'workload' is a mapping"),
        ("workload: {gruops: 2}", "workload has no key 'gruops'; did you mean 'groups'?"),
    ],
)
def test_a_file_with_a_key_that_is_not_known_is_refused(tmp_path, text: str, sentence: str):
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=re.escape(sentence)):
        load_scenario(path)


def test_a_run_that_breaks_is_a_failure_of_its_seed():
    outcome = simulate(Scenario(faults=(Fault("clock-jump", value="never"),)))
    assert outcome.breaches[0].startswith("O6: the run broke: ValueError")


def test_a_run_whose_last_judgement_breaks_is_a_failure_of_its_seed(
    monkeypatch: pytest.MonkeyPatch,
):
    def cannot_judge(truth: Truth) -> bool:
        raise KeyError("no such pod")

    monkeypatch.setattr(run, "has_restless", cannot_judge)
    outcome = simulate(Scenario())
    assert outcome.breaches[0].startswith("O6: the run broke: KeyError")
