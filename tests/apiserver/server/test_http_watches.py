"""Watches over HTTP: lines that come while things change, and end in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson

from kohort.apiserver.server import watches

MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
STREAMING = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"


class Lines:
    def __init__(self, response) -> None:
        self.response = response

    async def next(self):
        line = await self.response.content.readline()
        return orjson.loads(line) if line else None

    async def rest(self):
        return [orjson.loads(line) async for line in self.response.content]


@asynccontextmanager
async def watching(server, query: str, **headers: str) -> AsyncIterator[Lines]:
    path = server.url(f"{MAPS}?{query}")
    async with asyncio.timeout(10), server.session.get(path, headers=headers) as response:
        assert response.status == 200
        yield Lines(response)


async def make(server, name: str) -> None:
    made = await server.ask("POST", MAPS, {"metadata": {"name": name}})
    assert made.code == 201


async def test_changes_arrive_as_they_happen(server):
    async with watching(server, "watch=1") as lines:
        await make(server, "a")
        merge = {"Content_Type": "application/merge-patch+json"}
        await server.ask("PATCH", f"{MAPS}/a", {"data": {"x": "y"}}, **merge)
        await server.ask("DELETE", f"{MAPS}/a")
        seen = [await lines.next() for _ in range(3)]
    assert [event["type"] for event in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert seen[1]["object"]["data"] == {"x": "y"}


async def test_a_stream_says_when_the_initial_state_is_complete(server):
    await make(server, "a")
    async with watching(server, f"{STREAMING}&allowWatchBookmarks=true") as lines:
        assert (await lines.next())["object"]["metadata"]["name"] == "a"
        mark = await lines.next()
        assert mark["type"] == "BOOKMARK"
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        await make(server, "b")
        assert (await lines.next())["object"]["metadata"]["name"] == "b"


async def test_a_client_may_decline_the_initial_state(server):
    await make(server, "a")
    query = STREAMING.replace("true", "false") + "&resourceVersion=0"
    async with watching(server, query) as lines:
        await make(server, "b")
        assert (await lines.next())["object"]["metadata"]["name"] == "b"


async def test_a_watch_ends_when_its_time_is_over(server):
    await make(server, "a")
    async with watching(server, "watch=1&timeoutSeconds=1") as lines:
        assert [event["type"] for event in await lines.rest()] == ["ADDED"]
    async with watching(server, "watch=1&timeoutSeconds=-1") as lines:
        assert await lines.rest() == []


async def test_a_watch_from_a_forgotten_version_is_told_so_in_the_stream(server):
    await make(server, "a")
    server.api.store.bucket("configmaps").floor = 100
    async with watching(server, "watch=1&resourceVersion=1") as lines:
        events = await lines.rest()
    assert [event["type"] for event in events] == ["ERROR"]
    assert (events[0]["object"]["code"], events[0]["object"]["reason"]) == (410, "Expired")


async def test_only_the_first_table_of_a_stream_names_the_columns(server):
    async with watching(server, "watch=1", Accept=TABLE) as lines:
        await make(server, "a")
        await make(server, "b")
        first, second = await lines.next(), await lines.next()
    assert first["object"]["columnDefinitions"][0]["name"] == "Name"
    assert second["object"]["columnDefinitions"] is None
    assert second["object"]["rows"][0]["cells"][0] == "b"


async def test_many_watchers_see_the_same(server):
    async with watching(server, "watch=1") as one, watching(server, "watch=1") as other:
        for index in range(50):
            await make(server, f"a-{index}")
        for lines in (one, other):
            seen = [(await lines.next())["object"]["metadata"]["name"] for _ in range(50)]
            assert seen == [f"a-{index}" for index in range(50)]


async def test_a_client_that_leaves_is_forgotten(server):
    bucket = server.api.store.bucket("configmaps")
    async with watching(server, "watch=1"):
        assert len(bucket.subscribers) == 1
    async with asyncio.timeout(5):
        while bucket.subscribers:
            await asyncio.sleep(0)


async def test_a_server_that_stops_ends_its_streams_in_order(server):
    async with watching(server, "watch=1") as lines:
        await make(server, "a")
        assert (await lines.next())["type"] == "ADDED"
        async with asyncio.timeout(2):
            await server.server.stop()
        assert await lines.next() is None
    assert not server.api.store.bucket("configmaps").subscribers


async def test_a_silent_watch_is_sent_bookmarks_if_it_asked_for_them(server, monkeypatch):
    monkeypatch.setattr(watches, "BOOKMARK_SECONDS", 0.01)
    await make(server, "a")
    version = str(server.api.store.revision)
    async with watching(
        server, f"watch=1&resourceVersion={version}&allowWatchBookmarks=1"
    ) as lines:
        mark = await lines.next()
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"] == {"resourceVersion": version}
    async with watching(server, f"watch=1&resourceVersion={version}&timeoutSeconds=1") as lines:
        assert await lines.rest() == []
