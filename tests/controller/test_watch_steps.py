"""The watcher: its steps one by one, and then under every kind of trouble."""

import asyncio
from random import Random

import orjson
import pytest
from controller_world import ALL, CONFIGMAP, Breaking, TestTime, config_map, make_cluster
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.cluster.errors import (
    Forbidden,
    Invalid,
    NotFound,
    TooManyRequests,
    Unavailable,
    WatchExpired,
)
from kohort.cluster.port import Address, Listing, WatchEvent
from kohort.controller.caches.cache import CacheWriter
from kohort.controller.caches.watcher import (
    Ended,
    Failed,
    Filling,
    Following,
    Gone,
    Init,
    Mark,
    Put,
    Ready,
    Unlisted,
    Unreadable,
    Watcher,
    pause_seconds,
    step,
)
from kohort.simulation.virtual_loop import run_virtually


def line(kind: str, version: str, name: str = "a", **annotations: str) -> WatchEvent:
    metadata = {"name": name, "resourceVersion": version, "annotations": annotations}
    return WatchEvent(kind, orjson.dumps({"metadata": metadata}))


END = line("BOOKMARK", "9", "", **{"k8s.io/initial-events-end": "true"})


def kinds_of(events) -> list[type]:
    return [type(event) for event in events]


def test_a_streaming_list_begins_with_its_first_line_and_ends_with_its_bookmark():
    first = step(Unlisted(), line("ADDED", "3"))
    assert first.state == Filling()
    assert kinds_of(first.events) == [Init, Put]
    last = step(first.state, END)
    assert (last.state, last.events) == (Following("9"), (Ready("9"),))


def test_an_empty_streaming_list_is_a_list():
    assert kinds_of(step(Unlisted(), END).events) == [Init, Ready]


def test_lines_move_the_version_on():
    state, events, _ = step(Following("9", failures=3), line("MODIFIED", "12"))
    assert (state, kinds_of(events)) == (Following("12"), [Put])
    state, events, _ = step(state, line("DELETED", "13"))
    assert (state, kinds_of(events)) == (Following("13"), [Gone])
    state, events, _ = step(state, line("BOOKMARK", "20", ""))
    assert (state, events) == (Following("20"), (Mark("20"),))


def test_a_broken_stream_is_taken_up_at_the_last_version():
    for happening in (Ended(), Failed(Unavailable("gone")), Failed(TooManyRequests("busy"))):
        assert step(Following("9"), happening) == (Following("9", failures=1), (), 1)


@pytest.mark.parametrize("error", [WatchExpired("old"), NotFound("no such kind")])
def test_a_forgotten_version_leads_to_a_list_at_once_but_not_in_circles(error):
    for listing in (END, Listing([], "9")):
        state, pauses = step(Unlisted(), listing).state, []
        for _ in range(4):
            state, _, pause = step(state, Failed(error))
            pauses.append(pause)
            state = step(state, listing).state
        assert pauses == [0, 1, 2, 3]


def test_a_list_that_fails_does_not_end_the_pauses_for_forgotten_versions():
    state = Following("9", expiries=3)
    for happening in (Failed(WatchExpired("old")), Failed(Unavailable("gone")), END):
        state = step(state, happening).state  # type: ignore[assignment]
    assert step(state, Failed(WatchExpired("old"))).pause == 4


def test_a_run_that_is_cut_off_in_a_list_does_not_end_the_pauses_for_forgotten_versions():
    async def go_on() -> None:
        cluster = await make_cluster()
        watcher = Watcher(cluster, ALL, lambda event: None, TestTime(), Random(1))
        watcher.state = Filling(expiries=3)
        task = asyncio.create_task(watcher.run())
        await asyncio.sleep(1)
        task.cancel()
        assert step(watcher.state, Failed(WatchExpired("old"))).pause == 3

    run_virtually(go_on)


def test_a_line_ends_the_pauses_for_forgotten_versions():
    state = step(Following("9", expiries=3), line("MODIFIED", "12")).state
    assert step(state, Failed(WatchExpired("old"))).pause == 0


def test_broken_streams_do_not_delay_the_list_for_a_forgotten_version():
    assert step(Following("9", failures=4), Failed(WatchExpired("old"))).pause == 0


def test_a_server_that_cannot_stream_lists_is_listed_in_pages():
    refused = step(Unlisted(), Failed(Invalid("sendInitialEvents: Forbidden")))
    assert refused == (Unlisted(by_stream=False), (), 0)
    listed = step(refused.state, Listing([line("", "3").raw], "8"))  # type: ignore[attr-defined]
    assert listed.state == Following("8", by_stream=False)
    assert kinds_of(listed.events) == [Init, Put, Ready]


def test_a_streaming_list_that_never_ends_is_given_up():
    state = Unlisted()
    for _ in range(3):
        state = step(state, line("ADDED", "3")).state
        state = step(state, Ended()).state
    assert state == Unlisted(by_stream=False, failures=3)


def test_other_errors_are_waited_for():
    refused = step(Unlisted(by_stream=False), Failed(Forbidden("no")))
    assert refused == (Unlisted(by_stream=False, failures=1), (), 1)


def test_an_object_without_metadata_does_not_stop_the_list():
    raws = [line("", "3").raw, b"{}", b'{"metadata": {"name": 5}}', line("", "4", "b").raw]
    _, events, _ = step(Unlisted(by_stream=False), Listing(raws, "8"))
    assert kinds_of(events) == [Init, Put, Unreadable, Unreadable, Put, Ready]


def test_pauses_grow_to_a_limit_and_obey_the_server():
    chance = Random(1)
    pauses = [pause_seconds(n, None, chance) for n in range(40)]
    assert pauses[0] == 0
    assert 0.07 < pauses[1] < 0.13
    assert all(20 < pause < 40 for pause in pauses[12:])
    busy = TooManyRequests("storage is (re)initializing", details={"retryAfterSeconds": 7})
    assert pause_seconds(1, busy, chance) == 7


def test_no_server_makes_a_watch_pause_for_hours():
    away = Unavailable("maintenance", details={"retryAfterSeconds": 7200})
    assert pause_seconds(1, away, Random(1)) == 60


async def keep_up(seed: int, names: list[str]) -> None:
    inner = await make_cluster()
    cluster = Breaking(inner, Random(seed))
    writer = CacheWriter(ALL, lambda raw: orjson.loads(raw).get("data"))
    task = asyncio.create_task(Watcher(cluster, ALL, writer.apply, TestTime(), Random(seed)).run())
    known: set[str] = set()
    for number, name in enumerate(names):
        address = Address(CONFIGMAP, "lab", name)
        if name not in known:
            await inner.create(CONFIGMAP, "lab", config_map(name, n=str(number)))
        elif number % 2:
            await inner.patch(address, {"data": {"n": str(number)}})
        else:
            await inner.delete(address)
        known ^= {name} if name not in known or not number % 2 else set()
        await asyncio.sleep(0.05 * (number % 4))
    cluster.is_healed = True
    await asyncio.sleep(200)
    task.cancel()
    stored = [orjson.loads(raw) for raw in (await inner.list(ALL)).items]
    expected = {obj["metadata"]["name"]: obj.get("data") for obj in stored}
    assert {entry.key[1]: entry.value for entry in writer.reader} == expected
    assert set(expected) == known


@given(st.integers(0, 10**6), st.lists(st.sampled_from("abcdef"), max_size=25))
@settings(max_examples=60, deadline=None)
def test_whatever_breaks_the_cache_ends_as_the_store_is(seed: int, names: list[str]):
    run_virtually(lambda: keep_up(seed, names))
