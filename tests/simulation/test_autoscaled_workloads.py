"""A scenario may say how much load there is: an autoscaler then scales the workload."""

from pathlib import Path

import pytest

from kohort.simulation.run import simulate
from kohort.simulation.scenario import PODS, STATEFULSETS, Fault, Scenario
from kohort.simulation.scenario_files import load_scenario

CORPUS = Path(__file__).parent / "corpus"


def groups_made(log: tuple[str, ...] | list[str]) -> set[str]:
    """The leaders that were made, by their names."""
    made = (line.split(" ")[4] for line in log if " ADDED Pod " in line)
    return {name for name in made if name.count("-") == 1}


@pytest.mark.parametrize("carrier", [STATEFULSETS, PODS])
def test_the_load_of_a_scenario_scales_the_workload(carrier: str):
    faults = (Fault("metric", at=4.0, value="15"), Fault("metric", at=20.0, value="35"))
    outcome = simulate(Scenario(groups=1, size=2, carrier=carrier, faults=faults))
    assert outcome.is_good, outcome.breaches[:3]
    assert groups_made(outcome.log) == {"x-0", "x-1", "x-2", "x-3"}


def test_without_a_metric_in_the_scenario_there_is_no_autoscaler():
    outcome = simulate(Scenario(groups=1, size=1, faults=(Fault("roll", at=4.0, value="2"),)))
    assert groups_made(outcome.log) == {"x-0"}


@pytest.mark.slow
def test_the_scenario_of_the_corpus_reaches_four_groups():
    scenario = load_scenario(CORPUS / "scaled-by-an-autoscaler.yaml").scenario
    outcome = simulate(scenario)
    assert outcome.is_good, outcome.breaches[:3]
    assert len(groups_made(outcome.log)) >= 4
