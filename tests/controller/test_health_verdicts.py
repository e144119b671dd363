"""Liveness and readiness."""

import asyncio
from random import Random

import orjson
from controller_world import CONFIGMAP, TestTime, config_map, make_cluster

from kohort.cluster.objects import Kind
from kohort.cluster.port import Selection
from kohort.controller.caches.informers import Informers
from kohort.controller.health import Probe, judge_liveness, judge_readiness
from kohort.controller.queue import RunResult, WorkQueue
from kohort.simulation.virtual_loop import run_virtually


def test_nothing_to_do_is_no_sign_of_death():
    assert judge_liveness(0.0, 10_000.0).is_good


def test_a_long_wait_is_fine_while_plans_end():
    assert judge_liveness(500.0, 1.0).is_good


def test_keys_that_wait_while_no_plan_ends_are():
    result = judge_liveness(130.0, 200.0)
    assert not result.is_good
    assert result.text == "a key has been due for 130 s, and no plan has ended for 200 s"


def test_a_queue_that_is_stuck_is_found_out():
    async def body() -> None:
        queue: WorkQueue[str] = WorkQueue(TestTime(), Random(1))
        probe = Probe(queue, TestTime(), limit=60.0)

        async def hang(_: str) -> RunResult:
            await asyncio.sleep(10_000)
            return RunResult()

        task = asyncio.create_task(queue.run(hang))
        queue.add("a")
        queue.add("b")
        await asyncio.sleep(59)
        assert probe.liveness().is_good
        await asyncio.sleep(3)
        assert not probe.liveness().is_good
        task.cancel()

    run_virtually(body)


def test_readiness_waits_for_all_first_lists():
    async def body() -> None:
        cluster = await make_cluster()
        await cluster.create(CONFIGMAP, "lab", config_map("a"))
        informers = Informers(cluster, TestTime(), Random(1))
        maps = informers.add(Selection(CONFIGMAP), orjson.loads)
        informers.add(Selection(Kind("apps", "v1", "StatefulSet", "statefulsets")), orjson.loads)
        result = judge_readiness(informers.unlisted)
        assert result.text == "not listed yet: configmaps, statefulsets.apps"
        task = asyncio.create_task(informers.run())
        await informers.wait_until_ready()
        assert judge_readiness(informers.unlisted).is_good
        assert len(maps) == 1
        task.cancel()

    run_virtually(body)


def test_a_kind_that_is_optional_need_not_be_served():
    async def body() -> None:
        cluster = await make_cluster()
        informers = Informers(cluster, TestTime(), Random(1))
        informers.add(Selection(CONFIGMAP), orjson.loads)
        absent = Selection(Kind("example.com", "v1", "PodGroup", "podgroups"))
        informers.add(absent, orjson.loads, optional=True)
        task = asyncio.create_task(informers.run())
        await informers.wait_until_ready()
        assert judge_readiness(informers.unlisted).is_good
        task.cancel()

    run_virtually(body)
