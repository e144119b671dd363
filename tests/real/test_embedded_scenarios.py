"""The scenarios on the embedded cluster, with the operator that works inside ``kohort up``."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_driver import Driver
from scenario_list import SCENARIOS, Scenario, name_scenario

from kohort.cluster.http import connect

pytestmark = pytest.mark.slow
SPEED = "10"


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("embedded")
    _run(home, "up", "--name", "scenarios", "--detach", "--speed", SPEED, "--port", "0")
    yield home / "scenarios" / "kubeconfig"
    _run(home, "down", "--name", "scenarios")


def _run(home: Path, *words: str) -> None:
    environment = {**os.environ, "KOHORT_HOME": str(home), "KUBECONFIG": str(home / "config")}
    command = [sys.executable, "-m", "kohort", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("scenario", SCENARIOS, ids=name_scenario)
async def test_a_scenario_holds_on_the_embedded_cluster(embedded: Path, scenario: Scenario):
    async with connect(embedded) as cluster, Driver(cluster) as driver:
        await scenario(driver)


def test_every_case_of_upstream_is_there():
    numbers = {s.__name__.split("_")[1] for s in SCENARIOS if s.__name__.startswith("case_")}
    assert numbers == {f"{number:02}" for number in range(1, 17)}
