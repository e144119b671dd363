"""The scenarios on a real control plane; what checkers and its audit log say about each of them."""

from collections.abc import Iterator

import pytest
from operator_processes import controllers
from scenario_list import SCENARIOS, Scenario, name_scenario
from scenario_runs import ScenarioRuns

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def runs(site, request: pytest.FixtureRequest) -> Iterator[ScenarioRuns]:
    chosen = [
        item.callspec.params["scenario"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module
        if "scenario" in getattr(getattr(item, "callspec", None), "params", {})
    ]
    with controllers(site.plane, site.service, site.kubeconfig):
        running = ScenarioRuns(site.plane.kubeconfig, site.audit, chosen)
        yield running
        running.close()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=name_scenario)
def test_a_scenario_holds_on_a_real_control_plane(runs: ScenarioRuns, scenario: Scenario):
    assert not runs.wait_for(scenario).breaches


def test_nothing_else_was_done_that_should_not(runs: ScenarioRuns, site):
    assert not site.audit.read_breaches()
