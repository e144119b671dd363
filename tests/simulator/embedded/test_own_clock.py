"""A cluster with a clock of its own: it stands, and a step leaps over no component's work."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.served import APIS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Selection
from kohort.controller.queue import Pace, Schedule
from kohort.embedded_operator import ClusterTime, make_operator, make_settings
from kohort.simulator.clock import OwnClock
from kohort.simulator.embedded import Embedded, EmbeddedOptions

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
LWS = LEADER_WORKER_SET.kind


@asynccontextmanager
async def running() -> AsyncIterator[tuple[Embedded, InProcessCluster]]:
    settings = make_settings("", "budgeted", "statefulsets")
    embedded = await Embedded.start(
        EmbeddedOptions("t", apis=APIS, settings=settings, starts_at=START)
    )
    operator = asyncio.create_task((await make_operator(embedded, settings)).run())
    try:
        yield embedded, InProcessCluster(embedded.api)
    finally:
        operator.cancel()
        await asyncio.gather(operator, return_exceptions=True)
        await embedded.stop()


def make_lws(image: str = "engine:1", **more: Any) -> Object:
    pod = {"spec": {"containers": [{"name": "engine", "image": image}], **more}}
    spec = {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": pod}}
    metadata = {"name": "llama", "namespace": "default"}
    return {"apiVersion": LWS.api_version, "kind": LWS.name, "metadata": metadata, "spec": spec}


def read_stamps(found: Object) -> dict[str, str]:
    conditions = found["status"]["conditions"]
    return {c["type"]: c["lastTransitionTime"] for c in conditions if c["status"] == "True"}


async def roll() -> list[dict[str, str]]:
    """Bring a workload up and roll it; when it was available, and when again."""
    stamps = []
    async with running() as (embedded, cluster):
        await cluster.create(LWS, "default", make_lws())
        await embedded.world.leap(30)
        address = Address(LWS, "default", "llama")
        stamps.append(read_stamps(await cluster.read(address)))
        image = {"containers": [{"name": "engine", "image": "engine:2"}]}
        patch = {"spec": {"leaderWorkerTemplate": {"workerTemplate": {"spec": image}}}}
        await cluster.patch(address, patch)
        await embedded.world.leap(60)
        stamps.append(read_stamps(await cluster.read(address)))
        pods = await cluster.list(Selection(POD, "default"))
        assert all(b"engine:2" in raw for raw in pods.items)
        assert embedded.clock.now() == START + timedelta(seconds=90)
    return stamps


async def test_two_runs_have_the_same_stamps_to_the_second():
    first = await roll()
    assert first == await roll()
    assert all(found["Available"].startswith("2026-01-01T09:0") for found in first)


async def test_many_that_wait_for_a_time_do_not_hold_up_a_step():
    gates = [{"name": "example.com/queue"}]
    async with running() as (embedded, cluster), asyncio.timeout(60):
        for number in range(30):
            found = make_lws(schedulingGates=gates)
            found["metadata"]["name"] = f"llama-{number}"
            await cluster.create(LWS, "default", found)
        await embedded.world.leap(20)
        listing = await cluster.list(Selection(LWS, "default"))
    stamps = [read_stamps(json.loads(raw)).get("Blocked") for raw in listing.items]
    assert stamps == ["2026-01-01T09:00:10Z"] * 30


def test_a_clock_of_its_own_stands_until_it_is_stepped_or_resumed():
    seconds = [0.0]
    clock = OwnClock(START, lambda: seconds[0], speed=10)
    seconds[0] = 5.0
    assert clock.now() == START
    clock.step(3)
    assert clock.now() == START + timedelta(seconds=3)
    clock.resume()
    seconds[0] = 6.0
    assert clock.now() == START + timedelta(seconds=13)


async def test_a_step_counts_as_waiting():
    clock = OwnClock(START, lambda: 0.0)
    time = ClusterTime(clock)
    waiting = asyncio.create_task(time.sleep(3600))
    await asyncio.sleep(0)
    clock.step(3599)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    clock.step(1)
    async with asyncio.timeout(60):
        await waiting
    assert time.now() == START + timedelta(seconds=3600)


def test_a_key_gathers_from_an_event_until_it_runs():
    queue: Schedule[str] = Schedule(Pace(), Random(1))
    queue.add("a", 0.0, after=0.1)
    assert queue.gathering == 0
    queue.add("a", 0.0)
    assert queue.gathering == 1
    assert (queue.take(1.0), queue.gathering) == ("a", 0)
    queue.add("a", 1.0)
    queue.finish("a", 1.0)
    assert queue.gathering == 1
