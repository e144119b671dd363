"""A lease is renewed at once, whatever else waits to be sent."""

import asyncio

from scripted_server import CONFIGMAP, reply, serving

from kohort.cluster.http import HttpCluster
from kohort.cluster.http.access.access import Access
from kohort.cluster.http.access.credentials import NoCredentials
from kohort.cluster.kinds import LEASE
from kohort.cluster.objects import Object
from kohort.cluster.port import Address

THING: Object = {"metadata": {"name": "a"}}
PLACE = Address(LEASE, "lab", "a")


async def test_a_lease_waits_for_no_other_request():
    async with (
        serving(reply(THING)) as script,
        HttpCluster(Access(script.url, NoCredentials()), qps=0.1, burst=1) as cluster,
    ):
        here = Address(CONFIGMAP, "lab", "a")
        # More than may be under way at once: all but the first wait for minutes.
        others = [asyncio.create_task(cluster.read(here)) for _ in range(200)]
        await asyncio.sleep(0.1)
        async with asyncio.timeout(5):
            assert await cluster.read(PLACE) == THING
            assert await cluster.update(PLACE, THING) == THING
            assert await cluster.create(LEASE, "lab", THING) == THING
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)
