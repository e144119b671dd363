"""The stream of changes and the gate, without a cluster."""

import asyncio
from contextlib import aclosing

import pytest

from kohort.dashboard.feed import Feed
from kohort.dashboard.gate import Gate


async def take(feed: Feed, last_id: str, number: int) -> list[str]:
    """The first events of a stream."""
    found = []
    async with aclosing(feed.listen(last_id)) as stream, asyncio.timeout(10):
        async for part in stream:
            found.append(part.decode())
            if len(found) == number:
                break
    return found


async def test_a_comment_keeps_a_quiet_stream_open():
    feed = Feed(comment_seconds=0.01)
    found = await take(feed, "", 3)
    assert found[0].startswith(f"id: {feed.run}-0\nevent: reset\n")
    assert found[1:] == [": still here\n\n"] * 2


async def test_what_was_missed_comes_in_order():
    feed = Feed()
    for number in range(3):
        feed.publish("change", {"n": number})
    found = await take(feed, f"{feed.run}-1", 2)
    assert [line.splitlines()[0] for line in found] == [f"id: {feed.run}-2", f"id: {feed.run}-3"]


async def test_what_is_forgotten_is_loaded_again():
    feed = Feed(kept_max=2)
    for number in range(5):
        feed.publish("change", {"n": number})
    (first,) = await take(feed, f"{feed.run}-1", 1)
    assert "event: reset" in first


@pytest.mark.parametrize(
    ("seen", "first"),
    [
        (4, "id: {run}-5\nevent: change"),
        (3, "id: {run}-4\nevent: change"),  # the oldest that is kept is the next for this page
        (2, "id: {run}-5\nevent: reset"),
        (6, "id: {run}-5\nevent: reset"),  # never told by this process
    ],
)
async def test_a_page_resumes_exactly_where_nothing_was_dropped(seen: int, first: str):
    feed = Feed(kept_max=2)
    for number in range(5):
        feed.publish("change", {"n": number})
    (told,) = await take(feed, f"{feed.run}-{seen}", 1)
    assert told.startswith(first.format(run=feed.run))


async def test_a_page_that_does_not_read_is_cut_off():
    feed = Feed(kept_max=1)
    async with aclosing(feed.listen("")) as stream:
        await anext(stream)
        for number in range(2000):
            feed.publish("change", {"n": number})
        assert feed.listeners == 0
        parts = [part async for part in stream]
    assert len(parts) < 1001


async def test_the_end_reaches_a_page_that_has_stopped_reading():
    feed = Feed(kept_max=1)
    async with aclosing(feed.listen("")) as stream:
        await anext(stream)
        for number in range(1000):  # as many as a page may leave unread
            feed.publish("change", {"n": number})
        feed.close()
        assert len([part async for part in stream]) == 999


def test_a_page_that_left_is_forgotten():
    async def visit() -> int:
        feed = Feed()
        await take(feed, "", 1)
        return feed.listeners

    assert asyncio.run(visit()) == 0


def test_a_token_is_exchanged_once():
    gate = Gate("127.0.0.1")
    assert gate.exchange("guess") == ""
    secret = gate.exchange(gate.token)
    assert gate.knows({gate.cookie: secret})
    assert gate.exchange(gate.token) == ""
    assert not gate.knows({gate.cookie: ""})
    assert not gate.knows({})


@pytest.mark.parametrize(
    ("address", "host", "is_served"),
    [
        ("127.0.0.1", "127.0.0.1:7070", True),
        ("127.0.0.1", "localhost:7070", True),
        ("127.0.0.1", "10.1.2.3", False),
        ("127.0.0.1", "rebound.example", False),
        ("0.0.0.0", "10.1.2.3:7070", True),
        ("0.0.0.0", "rebound.example", False),
        ("::1", "[::1]:7070", True),
    ],
)
def test_hosts_are_served_that_no_name_server_can_make_up(address, host, is_served):
    assert (Gate(address).find_fault("GET", {"Host": host}) == "") is is_served


@pytest.mark.parametrize(
    ("method", "origin", "is_taken"),
    [
        ("GET", None, True),
        ("POST", None, False),
        ("POST", "http://127.0.0.1:7070", True),
        ("POST", "http://127.0.0.1:8080", False),  # a page of another server on this machine
        ("GET", "http://127.0.0.1", False),
    ],
)
def test_only_the_page_that_was_served_may_act(method: str, origin: str | None, is_taken: bool):
    headers = {"Host": "127.0.0.1:7070"} | ({"Origin": origin} if origin else {})
    assert (Gate("127.0.0.1").find_fault(method, headers) == "") is is_taken


def test_headers_that_are_no_text_and_no_url_are_refused():
    gate = Gate("127.0.0.1")
    assert not gate.knows({gate.cookie: "\udcff"})
    assert gate.exchange("\udcff") == ""
    headers = {"Host": "127.0.0.1:7070", "Origin": "http://["}
    assert "is not that of this page" in gate.find_fault("POST", headers)
