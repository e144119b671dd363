"""Requests of a process whose lease is lost while they wait."""

import asyncio
from typing import Any

from controller_world import CONFIGMAP, config_map, make_cluster

from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.actions import Create
from kohort.cluster.objects import Object
from kohort.controller.execute import Executor, Result


async def test_what_waited_for_other_requests_is_not_sent_when_the_lease_is_lost_meanwhile():
    held = [True]

    class Losing(InProcessCluster):
        async def create(self, *args: Any, **options: Any) -> Object:
            await asyncio.sleep(1)
            held[0] = False
            return await super().create(*args, **options)

    cluster = Losing((await make_cluster()).api)
    executor = Executor(cluster, may_write=lambda: held[0], at_once=1)
    both = await asyncio.gather(
        *(executor.run([Create(CONFIGMAP, "lab", config_map(name))]) for name in "ab")
    )
    assert [outcome.result for [outcome] in both] == [Result.DONE, Result.SKIPPED]
