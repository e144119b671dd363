"""
Scenarios side by side on one cluster, each in a namespace of its own.

Most of a scenario is waiting for pods, so several take hardly longer than one. They
run in a thread with a loop of its own; each test waits for its scenario alone.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from audit_log import AuditLog
from checker_replay import judge
from cluster_driver import KINDS, Driver
from scenario_list import Scenario

from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.http import connect
from kohort.cluster.port import Address, Cluster

SIDE_BY_SIDE = 5
SCENARIO_SECONDS_MAX = 900.0
SETTLE_SECONDS_MAX = 120.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known after a scenario that held."""

    breaches: list[str]  # of what a checker or the audit log must not see


class ScenarioRuns:
    """Runs scenarios from the moment it is made."""

    def __init__(self, kubeconfig: Path, audit: AuditLog, scenarios: Sequence[Scenario]) -> None:
        self._kubeconfig, self._audit = kubeconfig, audit
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._places = asyncio.Semaphore(SIDE_BY_SIDE)
        self._futures: dict[Scenario, Future[Outcome]] = {
            scenario: asyncio.run_coroutine_threadsafe(self._run(scenario), self._loop)
            for scenario in scenarios
        }

    def wait_for(self, scenario: Scenario) -> Outcome:
        """What became of a scenario; its own error if it did not hold."""
        return self._futures[scenario].result(SCENARIO_SECONDS_MAX)

    def close(self) -> None:
        """End what still runs."""
        for future in self._futures.values():
            future.cancel()
        asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)
        self._loop.close()

    async def _run(self, scenario: Scenario) -> Outcome:
        async with self._places, connect(self._kubeconfig) as cluster:
            return await run_scenario(cluster, self._audit, scenario)


async def run_scenario(cluster: Cluster, audit: AuditLog, scenario: Scenario) -> Outcome:
    """Run one scenario, let it come to rest, and judge what was seen."""
    async with Driver(cluster) as driver:
        await scenario(driver)
        breaches = await settle(driver, audit)
        return Outcome([*breaches, *audit.read_breaches(driver.namespace)])


async def settle(driver: Driver, audit: AuditLog, replicas: int = 1) -> list[str]:
    """Wait until nothing is left to do, where a rest was promised; what the checkers found."""
    end = asyncio.get_running_loop().time() + SETTLE_SECONDS_MAX
    while True:
        if driver.record.has_gaps:
            for changed in audit.find_changes(KINDS, driver.namespace):
                driver.record.note(*changed)
        told = (driver.record, audit, driver.namespace, replicas)
        verdict = judge(*told)
        if not verdict.breaches and not verdict.trouble:
            scale = await driver.cluster.read(Address(LWS, driver.namespace, "x", "scale"))
            return judge(*told, scale).breaches
        if verdict.breaches or not _is_to_rest(driver):
            return verdict.breaches
        late = f"{verdict.trouble}\n{driver.describe()}"
        assert asyncio.get_running_loop().time() < end, f"it does not come to rest: {late}"
        await asyncio.sleep(0.5)


def _is_to_rest(driver: Driver) -> bool:
    """Whether the state is one that checkers know: available, with one service for all."""
    lws = driver.find(LWS, "x")
    network = ((lws or {}).get("spec") or {}).get("networkConfig") or {}
    return driver.is_available() and network.get("subdomainPolicy") != "UniquePerReplica"


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
