"""The scenarios on a real control plane, and what its audit log says about each of them."""

from collections.abc import Iterator

import pytest
from cluster_driver import Driver
from operator_processes import controllers
from scenario_list import SCENARIOS, Scenario, name_scenario

from kohort.cluster.http import connect

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def operated(site) -> Iterator[object]:
    with controllers(site.plane, site.service, site.kubeconfig):
        yield site


@pytest.mark.parametrize("scenario", SCENARIOS, ids=name_scenario)
async def test_a_scenario_holds_on_a_real_control_plane(operated, scenario: Scenario):
    async with connect(operated.plane.kubeconfig) as cluster, Driver(cluster) as driver:
        await scenario(driver)
    assert not operated.audit.read_breaches()
