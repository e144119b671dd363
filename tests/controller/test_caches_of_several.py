"""Operators of one process that watch the same: one watch, whichever of them comes and goes."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random

import orjson
from controller_world import ALL, CONFIGMAP, TestTime, config_map, make_cluster

from kohort.apis.facts import Whole
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import Forbidden
from kohort.cluster.objects import Object
from kohort.cluster.port import Address, Cluster, Selection, WatchEvent
from kohort.controller.caches.cache import Cache
from kohort.controller.caches.informers import Informers, SharedWatches
from kohort.simulation.virtual_loop import run_virtually


class Counted(InProcessCluster):
    """A cluster that counts watches, and can hide everything."""

    watches = 0
    is_hidden = False
    is_cut_off = False  # the first list stops after its first object

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        if self.is_hidden:
            raise Forbidden("you may not")
        self.watches += 1
        async for change in super().watch(selection, version, initial=initial):
            yield change
            if self.is_cut_off:
                await asyncio.Event().wait()


class User:
    """One operator's informers, with one cache that is subscribed to."""

    def __init__(self, cluster: Cluster, shared: SharedWatches) -> None:
        self.informers = Informers(cluster, TestTime(), Random(1), shared=shared)
        self.served = 0
        self.cache: Cache[Object] = self.informers.add(
            ALL, orjson.loads, optional=True, on_served=self._note
        )
        self.seen: list[str] = []
        self.cache.subscribe(lambda difference: self.seen.append(difference.key[1]))
        self.task = asyncio.ensure_future(self.informers.run())

    def _note(self) -> None:
        self.served += 1

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        self.informers.close()


async def start() -> tuple[Counted, SharedWatches]:
    cluster = Counted((await make_cluster()).api)
    await cluster.create(CONFIGMAP, "lab", config_map("first"))
    return cluster, SharedWatches()


async def add(cluster: Counted, name: str) -> None:
    await cluster.create(CONFIGMAP, "lab", config_map(name))
    await asyncio.sleep(1)


def test_two_that_watch_the_same_open_one_watch_and_both_hear_of_all():
    async def body() -> None:
        cluster, shared = await start()
        one, other = User(cluster, shared), User(cluster, shared)
        await one.informers.wait_until_ready()
        await other.informers.wait_until_ready()
        await add(cluster, "second")
        assert cluster.watches == 1
        assert one.seen == other.seen == ["first", "second"]
        assert one.cache is not other.cache

    run_virtually(body)


def test_one_that_comes_later_hears_of_what_is_there_without_a_list():
    async def body() -> None:
        cluster, shared = await start()
        one = User(cluster, shared)
        await one.informers.wait_until_ready()
        late = User(cluster, shared)
        assert late.informers.are_ready and late.seen == ["first"]
        assert cluster.watches == 1

    run_virtually(body)


def test_when_the_watching_informer_leaves_the_other_goes_on_and_gets_all_events():
    async def body() -> None:
        cluster, shared = await start()
        one, other = User(cluster, shared), User(cluster, shared)
        await other.informers.wait_until_ready()
        await one.leave()
        await add(cluster, "second")
        assert other.seen == ["first", "second"]
        assert one.seen == ["first"]

    run_virtually(body)


def test_a_list_that_was_cut_off_leaves_nothing_behind():
    async def body() -> None:
        cluster, shared = await start()
        await cluster.create(CONFIGMAP, "lab", config_map("second"))
        cluster.is_cut_off = True
        one, other = User(cluster, shared), User(cluster, shared)
        await asyncio.sleep(1)
        await cluster.delete(Address(CONFIGMAP, "lab", "first"))
        cluster.is_cut_off = False
        await one.leave()
        await other.informers.wait_until_ready()
        assert [entry.key[1] for entry in other.cache] == ["second"]

    run_virtually(body)


def test_a_cache_that_lost_its_last_reader_is_filled_anew():
    async def body() -> None:
        cluster, shared = await start()
        one = User(cluster, shared)
        await one.informers.wait_until_ready()
        await one.leave()
        await add(cluster, "meanwhile")
        late = User(cluster, shared)
        assert not late.informers.are_ready and late.seen == []
        await late.informers.wait_until_ready()
        assert sorted(late.seen) == ["first", "meanwhile"]

    run_virtually(body)


def test_both_informers_learn_that_a_kind_cannot_be_watched_and_that_it_can():
    async def body() -> None:
        cluster, shared = await start()
        cluster.is_hidden = True
        one = User(cluster, shared)
        await one.informers.wait_until_ready()
        late = User(cluster, shared)
        assert ALL in one.informers.absent and ALL in late.informers.absent
        cluster.is_hidden = False
        await asyncio.sleep(600)
        assert (one.served, late.served) == (1, 1)
        assert one.informers.absent == late.informers.absent == {}

    run_virtually(body)


def test_what_is_read_otherwise_is_watched_apart():
    async def body() -> None:
        cluster, shared = await start()
        one = User(cluster, shared)
        other = Informers(cluster, TestTime(), Random(1), shared=shared)
        other.add(ALL, Whole)
        task = asyncio.ensure_future(other.run())
        await one.informers.wait_until_ready()
        await other.wait_until_ready()
        assert cluster.watches == 2
        task.cancel()

    run_virtually(body)


def index_names(obj: Object) -> list[str]:
    return [obj["metadata"]["name"]]


def test_readers_with_indexes_of_their_own_share_one_watch():
    async def body() -> None:
        cluster, shared = await start()
        one = User(cluster, shared)
        await one.informers.wait_until_ready()
        late = Informers(cluster, TestTime(), Random(1), shared=shared)
        found = late.add(ALL, orjson.loads, {"name": index_names}, optional=True)
        await add(cluster, "second")
        assert cluster.watches == 1
        assert found.keys("name", "first") == [("lab", "first")]
        assert found.keys("name", "second") == [("lab", "second")]

    run_virtually(body)


@dataclass
class NameIndex:
    """An index of another package: a value that can be compared and not hashed."""

    def __call__(self, obj: Object) -> list[str]:
        return [obj["metadata"]["name"]]


def test_an_index_may_be_a_value_that_cannot_be_hashed():
    async def body() -> None:
        cluster, shared = await start()
        readers = []
        for _ in range(2):
            found = Informers(cluster, TestTime(), Random(1), shared=shared)
            readers.append(found.add(ALL, orjson.loads, {"name": NameIndex()}, optional=True))
        one = User(cluster, shared)
        await one.informers.wait_until_ready()
        assert [reader.keys("name", "first") for reader in readers] == [[("lab", "first")]] * 2

    run_virtually(body)


def test_an_index_goes_with_its_last_reader():
    async def body() -> None:
        cluster, shared = await start()
        one, asked = User(cluster, shared), []

        def index(obj: Object) -> list[str]:
            asked.append(obj["metadata"]["name"])
            return []

        other = Informers(cluster, TestTime(), Random(1), shared=shared)
        other.add(ALL, orjson.loads, {"mine": index}, optional=True)
        await one.informers.wait_until_ready()
        other.close()
        await add(cluster, "second")
        assert asked == ["first"] and one.seen == ["first", "second"]

    run_virtually(body)
