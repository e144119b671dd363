"""How often the operator says that it cannot reach its cluster."""

import asyncio
from dataclasses import replace

import pytest
from controller_world import make_cluster

from kohort.apis.served import choose_apis
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import NotFound, TooManyRequests, Unavailable, WatchExpired
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Selection
from kohort.controller.clock import LoopTime
from kohort.controller.process.configuration import Configuration
from kohort.controller.process.measures import Measures
from kohort.controller.process.process import Launch, Process
from kohort.simulation.virtual_loop import run_virtually

SELECTIONS = [Selection(Kind("", "v1", name, f"{name.lower()}s")) for name in ("Pod", "Service")]


async def fail(measures: Measures, seconds: float) -> None:
    """Both watches fail each ten seconds, for so long."""
    for _ in range(int(seconds / 10)):
        for selection in SELECTIONS:
            measures.trouble(selection, Unavailable("cannot reach https://x"))
        await LoopTime().sleep(10)


def test_an_outage_is_logged_once_a_minute_with_how_long_it_lasts(caplog: pytest.LogCaptureFixture):
    async def work() -> None:
        await fail(Measures(LoopTime()), 600)

    run_virtually(work)
    told = [(record.getMessage(), record.facts) for record in caplog.records]  # type: ignore[attr-defined]
    assert [words for words, _ in told] == ["cannot watch"] * 2 + ["still cannot watch"] * 9
    assert told[2][1] == {"error": "cannot reach https://x", "for": "60s"}
    assert told[-1][1]["for"] == "540s"


def test_a_second_outage_begins_anew(caplog: pytest.LogCaptureFixture):
    async def work() -> None:
        measures = Measures(LoopTime())
        await fail(measures, 70)
        await LoopTime().sleep(600)
        caplog.clear()
        await fail(measures, 30)

    run_virtually(work)
    assert [record.getMessage() for record in caplog.records] == ["cannot watch"] * 2


@pytest.mark.parametrize("error", [NotFound("no such kind"), TooManyRequests("initializing")])
def test_a_kind_that_is_not_served_yet_is_logged_only_when_that_lasts(error, caplog):
    told: list[int] = []

    async def work() -> None:
        measures = Measures(LoopTime())
        for _ in range(10):
            measures.trouble(SELECTIONS[0], error)
            told.append(len(caplog.records))
            await LoopTime().sleep(1)

    run_virtually(work)
    assert told == [0] * 5 + [1] * 5


class DeadCluster(InProcessCluster):
    """A cluster that answers no read and no write."""

    async def read(self, address: Address) -> Object:
        raise Unavailable("cannot reach https://x")

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        raise Unavailable("cannot reach https://x")


def test_a_process_that_cannot_reach_its_lease_says_so_once_a_minute(caplog):
    async def work() -> None:
        configuration = replace(
            Configuration(), metrics_address="0", health_address="127.0.0.1:0", webhook_port=0
        )
        process = Process(
            DeadCluster((await make_cluster()).api), Launch(choose_apis(()), "a", configuration)
        )
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(600, stop.set)
        await process.run(stop)

    run_virtually(work)
    told = [r for r in caplog.records if r.getMessage() == "cannot reach for the lease"]
    assert 9 <= len(told) <= 11
    assert told[-1].levelname == "WARNING"
    assert told[-1].facts["for"] in ("540s", "558s", "600s")  # type: ignore[attr-defined]


def test_messages_of_former_outages_are_not_kept():
    async def work() -> int:
        measures = Measures(LoopTime())
        for number in range(1_000):
            measures.trouble(SELECTIONS[0], WatchExpired(f"too old resource version: {number}"))
            await LoopTime().sleep(10)
        return len(measures.outages)

    assert run_virtually(work) <= 10
