"""What the HTTP client sends, and what it makes of the answers."""

import orjson
import pytest
from scripted_server import CONFIGMAP, client_of, hang_up, refuse, reply, serving, stream, talking

from kohort import __version__
from kohort.cluster.errors import (
    AlreadyExists,
    Conflict,
    InternalError,
    NotFound,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    WatchExpired,
    already_exists,
)
from kohort.cluster.http import HttpCluster
from kohort.cluster.http.access.access import Access
from kohort.cluster.http.access.credentials import NoCredentials
from kohort.cluster.port import Address, PatchType, Selection

HERE = Address(CONFIGMAP, "default", "a")
ALL = Selection(CONFIGMAP, "default", labels="app=web")
THING = {"metadata": {"name": "a", "resourceVersion": "7"}}


def page(names: str, version: str = "9", continue_from: str = ""):
    metadata = {"resourceVersion": version, "continue": continue_from}
    return reply({"metadata": metadata, "items": [{"metadata": {"name": n}} for n in names]})


def line(kind: str, obj: dict) -> bytes:
    return orjson.dumps({"type": kind, "object": obj}) + b"\n"


async def test_a_create_posts_to_the_collection_and_says_who_we_are():
    async with serving(reply(THING, 201)) as script, client_of(script) as cluster:
        assert await cluster.create(CONFIGMAP, "default", THING) == THING
    request = script.seen[0]
    assert (request.method, request.path) == ("POST", "/api/v1/namespaces/default/configmaps")
    assert request.headers["User-Agent"] == f"kohort/{__version__}"


async def test_an_apply_names_its_manager_and_its_form():
    async with serving(reply(THING)) as script, client_of(script) as cluster:
        await cluster.patch(HERE, {}, PatchType.APPLY, manager="lws", force=True)
    request = script.seen[0]
    assert dict(request.query) == {"fieldManager": "lws", "force": "true"}
    assert request.content_type == "application/apply-patch+yaml"


async def test_a_delete_carries_the_uid_that_was_seen():
    async with serving(reply({"kind": "Status"})) as script, client_of(script) as cluster:
        await cluster.delete(HERE, uid="u1", propagation="Foreground", grace=0)
    options = orjson.loads(script.bodies[0])
    assert options["preconditions"] == {"uid": "u1"}
    assert options["propagationPolicy"] == "Foreground"
    assert options["gracePeriodSeconds"] == 0


async def test_a_refusal_keeps_its_class_its_message_and_its_details():
    error = already_exists("configmaps", "", "a")
    async with serving(refuse(error)) as script, client_of(script) as cluster:
        with pytest.raises(AlreadyExists, match='configmaps "a" already exists') as caught:
            await cluster.create(CONFIGMAP, "default", THING)
    assert caught.value.details == error.details


async def test_a_page_that_is_no_status_becomes_a_message():
    async with serving(stream(b"")) as script, client_of(script) as cluster:
        with pytest.raises(InternalError, match="cannot be read"):
            await cluster.read(HERE)


async def test_a_list_is_fetched_in_pages():
    async with talking(page("ab", "9", "next"), page("c", "9")) as (script, cluster):
        listing = await cluster.list(ALL)
    assert [orjson.loads(item)["metadata"]["name"] for item in listing.items] == ["a", "b", "c"]
    assert listing.version == "9"
    assert [r.query.get("continue") for r in script.seen] == [None, "next"]
    assert script.seen[0].query["labelSelector"] == "app=web"


async def test_a_list_whose_pages_expire_is_fetched_whole():
    expired = refuse(WatchExpired("The provided continue parameter is too old"))
    async with talking(page("ab", "9", "next"), expired, page("abc", "12")) as (script, cluster):
        listing = await cluster.list(ALL)
    assert (len(listing.items), listing.version) == (3, "12")
    assert "limit" not in script.seen[-1].query


async def test_lines_of_a_watch_may_be_of_any_size_and_cut_anywhere():
    big = line("ADDED", {"metadata": {"name": "a"}, "data": {"k": "v" * 300_000}})
    text = big + line("BOOKMARK", {"metadata": {"resourceVersion": "8"}})
    chunks = [text[i : i + 70_001] for i in range(0, len(text), 70_001)]
    async with serving(stream(*chunks)) as script, client_of(script) as cluster:
        changes = [change async for change in cluster.watch(ALL, "5")]
    assert [change.type for change in changes] == ["ADDED", "BOOKMARK"]
    assert script.seen[0].query["allowWatchBookmarks"] == "true"
    assert script.seen[0].query["resourceVersion"] == "5"


async def test_a_streaming_list_asks_for_the_current_state_first():
    async with serving(stream(b"")) as script, client_of(script) as cluster:
        assert [change async for change in cluster.watch(ALL, "", initial=True)] == []
    query = script.seen[0].query
    assert (query["sendInitialEvents"], query["resourceVersionMatch"]) == ("true", "NotOlderThan")


async def test_an_error_in_a_stream_is_raised():
    expired = WatchExpired("too old resource version: 1 (5)")
    async with talking(stream(line("ERROR", expired.status()))) as (_, cluster):
        with pytest.raises(WatchExpired, match="too old"):
            [change async for change in cluster.watch(ALL, "1")]


async def test_a_read_is_repeated_when_the_connection_breaks():
    async with talking(hang_up(), hang_up(), reply(THING)) as (_, cluster):
        assert await cluster.read(HERE) == THING


@pytest.mark.parametrize(
    "write",
    [
        lambda cluster: cluster.create(CONFIGMAP, "default", THING),
        lambda cluster: cluster.update(HERE, THING),
        lambda cluster: cluster.patch(HERE, {"data": {}}),
        lambda cluster: cluster.delete(HERE),
    ],
    ids=["POST", "PUT", "PATCH", "DELETE"],
)
async def test_a_write_is_not_repeated_when_it_may_have_been_applied(write):
    async with serving(hang_up(), reply(THING)) as script, client_of(script) as cluster:
        with pytest.raises(Unavailable, match="lost the connection"):
            await write(cluster)
    assert len(script.seen) == 1


async def test_a_write_that_was_turned_away_is_repeated():
    busy = refuse(TooManyRequests("busy"), {"Retry-After": "0"})
    async with serving(busy, reply(THING)) as script, client_of(script) as cluster:
        assert await cluster.create(CONFIGMAP, "default", THING) == THING


async def test_a_server_that_asks_for_long_patience_is_reported():
    busy = refuse(TooManyRequests("busy"), {"Retry-After": "300"})
    async with serving(busy) as script, client_of(script) as cluster:
        with pytest.raises(TooManyRequests) as caught:
            await cluster.read(HERE)
    assert caught.value.details == {"retryAfterSeconds": 300}
    assert len(script.seen) == 1


async def test_a_conflict_is_never_repeated():
    async with serving(refuse(Conflict("lost"))) as script, client_of(script) as cluster:
        with pytest.raises(Conflict):
            await cluster.update(HERE, THING)
    assert len(script.seen) == 1


async def test_a_server_that_is_not_there_is_unavailable():
    async with serving(reply(THING)) as script:
        pass
    async with client_of(script) as cluster:
        with pytest.raises(Unavailable, match=r"cannot reach http://127\.0\.0\.1"):
            await cluster.read(HERE)


class Renewable(NoCredentials):
    """Credentials that are better the second time."""

    def __init__(self) -> None:
        self.number = 1

    async def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.number}"}

    async def renew(self) -> bool:
        self.number += 1
        return True


async def test_credentials_are_renewed_once_when_the_server_does_not_know_the_user():
    unknown = refuse(Unauthorized("Unauthorized"))
    answers = (unknown, reply(THING))
    async with serving(*answers) as script, client_of(script, Renewable()) as cluster:
        await cluster.create(CONFIGMAP, "default", THING)
    assert [r.headers["Authorization"] for r in script.seen] == ["Bearer 1", "Bearer 2"]
    async with serving(unknown) as script, client_of(script, Renewable()) as cluster:
        with pytest.raises(Unauthorized):
            await cluster.read(HERE)
    assert len(script.seen) == 2


async def test_a_text_from_something_in_between_is_the_message():
    async def proxy(_):
        from aiohttp import web

        return web.Response(status=404, text="404 page not found\n")

    async with serving(proxy) as script, client_of(script) as cluster:
        with pytest.raises(NotFound, match=r"^404 page not found$"):
            await cluster.read(HERE)


async def test_a_proxy_is_asked_for_the_server():
    async with serving(reply(THING)) as script:
        access = Access("http://cluster.invalid", proxy=script.url)
        async with HttpCluster(access) as cluster:
            assert await cluster.read(HERE) == THING
    assert script.seen[0].host == "cluster.invalid"


async def test_the_date_of_an_answer_is_forgotten_when_there_is_none_to_the_next_request():
    async with serving(reply(THING), hang_up()) as script, client_of(script) as cluster:
        await cluster.read(HERE)
        assert cluster.server_date
        with pytest.raises(Unavailable):
            await cluster.create(CONFIGMAP, "default", THING)
        assert cluster.server_date == ""
