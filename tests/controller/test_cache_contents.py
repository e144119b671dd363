"""The cache: what readers see, and what subscribers are told."""

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.facts import Whole
from kohort.cluster.objects import Kind
from kohort.cluster.port import Selection, WatchEvent
from kohort.controller.caches.cache import CacheWriter, Difference
from kohort.controller.caches.watcher import (
    Gone,
    Init,
    Mark,
    Metadata,
    Put,
    Ready,
    Unreadable,
    _read_change,
)

THINGS = Selection(Kind("", "v1", "ConfigMap", "configmaps"))


def put(name: str, version: int, value: object = "x", uid: str = "") -> Put:
    metadata = Metadata(name, "lab", uid or name, str(version))
    return Put(metadata, orjson.dumps(value))


def gone(name: str, version: int) -> Gone:
    return Gone(Metadata(name, "lab", name, str(version)))


def decode(raw: bytes) -> str:
    value = orjson.loads(raw)
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def make(*events, **indexes) -> CacheWriter[str]:
    writer = CacheWriter(THINGS, decode, indexes)
    for event in events:
        writer.apply(event)
    return writer


def told_by(writer: CacheWriter[str]) -> list[Difference[str]]:
    told: list[Difference[str]] = []
    writer.reader.subscribe(told.append)
    told.clear()
    return told


def contents(writer: CacheWriter[str]) -> dict[str, str]:
    return {entry.key[1]: entry.value for entry in writer.reader}


def test_a_list_is_seen_whole_or_not_at_all():
    writer = make(Init(), put("a", 1))
    assert contents(writer) == {}
    assert not writer.reader.is_ready
    writer.apply(Ready("5"))
    assert contents(writer) == {"a": "x"}
    assert writer.reader.is_ready
    assert writer.reader.version == 5


def test_subscribers_get_old_and_new():
    writer = make(Init(), put("a", 1, "old"), Ready("1"))
    told = told_by(writer)
    writer.apply(put("a", 2, "new"))
    assert [(d.old.value, d.new.value) for d in told if d.old and d.new] == [("old", "new")]
    writer.apply(gone("a", 3))
    assert told[-1].new is None
    assert writer.reader.version == 3


def test_a_late_subscriber_gets_the_existing_objects():
    writer = make(Init(), put("a", 1), Ready("1"))
    told: list[Difference[str]] = []
    writer.reader.subscribe(told.append)
    assert [difference.key for difference in told] == [("lab", "a")]


def test_a_relist_reports_only_the_differences():
    writer = make(Init(), put("a", 1), put("b", 2), put("c", 3), Ready("3"))
    told = told_by(writer)
    for event in (Init(), put("a", 1), put("b", 7, "y"), put("d", 8), Ready("9")):
        writer.apply(event)
    assert sorted(d.key[1] for d in told) == ["b", "c", "d"]
    assert contents(writer) == {"a": "x", "b": "y", "d": "x"}


def test_an_object_that_went_during_a_streaming_list_is_not_there():
    writer = make(Init(), put("a", 1), gone("a", 2), Ready("3"))
    assert contents(writer) == {}


def test_a_bookmark_moves_the_version():
    writer = make(Init(), Ready("3"), Mark("40"))
    assert writer.reader.version == 40


def test_an_object_that_cannot_be_decoded_is_left_out_and_named():
    faults: list[Any] = []
    writer = CacheWriter(THINGS, decode, report=faults.append)
    for event in (Init(), put("a", 1), put("b", 2, 5), Unreadable(b"?", "odd"), Ready("3")):
        writer.apply(event)
    assert contents(writer) == {"a": "x"}
    assert [fault.why for fault in faults] == ["not a text", "odd"]
    assert list(writer.reader.faults) == [("lab", "b")]
    writer.apply(put("b", 4, "fine"))
    assert contents(writer) == {"a": "x", "b": "fine"}
    assert not writer.reader.faults


def test_an_object_that_is_too_deep_to_be_decoded_is_left_out():
    raw = b'{"metadata":{"name":"b"},"data":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    writer = CacheWriter(THINGS, Whole)
    whole = Put(put("a", 1).metadata, b'{"metadata":{"name":"a"}}')
    for event in (Init(), whole, Put(put("b", 2).metadata, raw), Ready("3")):
        writer.apply(event)
    assert [key[1] for key in writer.reader.faults] == ["b"]
    assert len(writer.reader) == 1
    assert isinstance(_read_change(WatchEvent("ADDED", raw)), Unreadable)


def test_an_object_that_becomes_unreadable_is_reported_as_gone_with_its_fault():
    writer = make(Init(), put("a", 1), Ready("1"))
    told = told_by(writer)
    writer.apply(put("a", 2, 5))
    assert (told[0].new, told[0].fault.why if told[0].fault else "") == (None, "not a text")
    writer.apply(gone("a", 3))
    assert not writer.reader.faults


def test_an_index_follows_its_objects():
    writer = make(Init(), put("a", 1, "xy"), put("b", 2, "y"), Ready("2"), letters=set)
    reader = writer.reader
    assert sorted(reader.select("letters", "y")) == ["xy", "y"]
    writer.apply(put("a", 3, "x"))
    assert reader.keys("letters", "y") == [("lab", "b")]
    writer.apply(gone("b", 4))
    assert reader.select("letters", "y") == []


states = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 3), max_size=5)


@given(states, states)
def test_the_difference_of_a_swap_is_the_naive_one(before: dict[str, int], after: dict[str, int]):
    writer = make(Init(), *(put(n, v, str(v)) for n, v in before.items()), Ready("1"))
    told = told_by(writer)
    for event in (Init(), *(put(n, v, str(v)) for n, v in after.items()), Ready("9")):
        writer.apply(event)
    found = {
        d.key[1]: (d.old.value if d.old else None, d.new.value if d.new else None) for d in told
    }
    naive = {
        name: tuple(str(s[name]) if name in s else None for s in (before, after))
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }
    assert found == naive
    assert len(told) == len(naive)
    assert contents(writer) == {name: str(value) for name, value in after.items()}


changes = st.lists(st.tuples(st.sampled_from("abcd"), st.text("xyz", max_size=3) | st.none()))


@given(changes)
def test_an_index_is_what_one_would_compute_anew(history: list[tuple[str, str | None]]):
    writer = make(Init(), Ready("0"), letters=set)
    for number, (name, text) in enumerate(history, 1):
        writer.apply(gone(name, number) if text is None else put(name, number, text))
    for letter in "xyz":
        naive = {e.key for e in writer.reader if letter in e.value}
        assert set(writer.reader.keys("letters", letter)) == naive
