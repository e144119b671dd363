"""The port on an API in the same process."""

import asyncio

import orjson
import pytest
from controller_world import ALL, CONFIGMAP, config_map, make_cluster

from kohort.apiserver.inprocess import BOOKMARK_SECONDS
from kohort.cluster.errors import Conflict, NotFound
from kohort.cluster.objects import Kind
from kohort.cluster.port import Address, PatchType, Selection
from kohort.simulation.virtual_loop import run_virtually

HERE = Address(CONFIGMAP, "lab", "a")


async def test_objects_are_copies_on_both_sides():
    cluster = await make_cluster()
    mine = config_map("a", k="v")
    stored = await cluster.create(CONFIGMAP, "lab", mine)
    mine["data"]["k"] = stored["data"]["k"] = "changed"
    assert (await cluster.read(HERE))["data"] == {"k": "v"}


async def test_writes_meet_the_same_guards_as_over_http():
    cluster = await make_cluster()
    stored = await cluster.create(CONFIGMAP, "lab", config_map("a"))
    apply = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    await cluster.patch(HERE, apply, PatchType.APPLY, manager="m", force=True)
    with pytest.raises(Conflict):
        await cluster.update(HERE, stored)
    with pytest.raises(Conflict):
        await cluster.delete(HERE, uid="another")
    with pytest.raises(NotFound, match="could not find the requested resource"):
        await cluster.read(Address(Kind("no", "v1", "Such", "suches"), "lab", "a"))


async def test_a_list_chooses_by_labels():
    cluster = await make_cluster()
    chosen = config_map("b")
    chosen["metadata"]["labels"] = {"app": "web"}
    await cluster.create(CONFIGMAP, "lab", config_map("a"))
    await cluster.create(CONFIGMAP, "lab", chosen)
    listing = await cluster.list(Selection(CONFIGMAP, "lab", labels="app=web"))
    assert [orjson.loads(raw)["metadata"]["name"] for raw in listing.items] == ["b"]


async def test_a_streaming_list_goes_on_as_a_watch():
    cluster = await make_cluster()
    await cluster.create(CONFIGMAP, "lab", config_map("a"))
    types = []
    async for change in cluster.watch(ALL, "", initial=True):
        types.append(change.type)
        if change.type == "BOOKMARK":
            await cluster.delete(HERE)
        if change.type == "DELETED":
            break
    assert types == ["ADDED", "BOOKMARK", "DELETED"]


def test_a_silent_watch_sends_bookmarks():
    async def body() -> str:
        cluster = await make_cluster()
        version = (await cluster.list(ALL)).version
        async for change in cluster.watch(ALL, version):
            return change.type
        return ""

    assert run_virtually(body) == "BOOKMARK"


def test_a_write_in_the_turn_of_a_bookmark_is_sent_before_it():
    async def body() -> list[tuple[str, int]]:
        cluster = await make_cluster()
        version = (await cluster.list(ALL)).version
        fields = {"metadata.name": "a", "metadata.namespace": "lab"}
        put = (cluster.api.store.put, "configmaps", ("lab", "a"), config_map("a"), fields)
        # Late enough to come after the timer, early enough to come before its waiter wakes.
        loop = asyncio.get_running_loop()
        loop.call_at(loop.time() + BOOKMARK_SECONDS + 1e-10, *put)  # type: ignore[call-arg]
        told = []
        async for change in cluster.watch(ALL, version):
            meta = orjson.loads(change.raw)["metadata"]
            told.append((change.type, int(meta["resourceVersion"])))
            if len(told) == 2:
                break
        return told

    (first, version), (second, covered) = run_virtually(body)
    assert (first, second) == ("ADDED", "BOOKMARK")
    assert version == covered
