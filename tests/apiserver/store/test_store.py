"""The store keeps versions, history and order, and calls its listeners in the order of commits."""

import gc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apiserver.store.entries import ChangeType, Event
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import WatchExpired

NAMES = st.sampled_from(["a", "b", "c", "d"])
WRITES = st.lists(st.tuples(st.sampled_from(["put", "remove"]), NAMES, NAMES), max_size=40)


def write(store: Store, verb: str, namespace: str, name: str) -> None:
    body = {"kind": "Thing", "apiVersion": "v1", "metadata": {"namespace": namespace, "name": name}}
    if verb == "put":
        store.put("things", (namespace, name), body, {})
    elif store.find("things", (namespace, name)):
        store.remove("things", (namespace, name), body, {})


def names(store: Store) -> list[tuple[str, str]]:
    return [entry.key for entry in store.at("things", store.revision, None)]


class TestVersions:
    def test_every_write_takes_the_next_version(self):
        store = Store()
        first = store.put("things", ("", "a"), {"metadata": {"name": "a"}}, {})
        second = store.put("things", ("", "a"), {"metadata": {"name": "a"}}, {})
        assert second.rv == first.rv + 1
        assert second.decode()["metadata"]["resourceVersion"] == str(second.rv)

    def test_a_deletion_takes_a_version_too(self):
        store = Store()
        made = store.put("things", ("", "a"), {"metadata": {"name": "a"}}, {})
        gone = store.remove("things", ("", "a"), {"metadata": {"name": "a"}}, {})
        assert gone.rv == made.rv + 1

    @given(WRITES)
    def test_versions_rise_whatever_is_written(self, writes):
        store, seen = Store(), []
        store.subscribe("things", lambda event: seen.append(event.rv))
        for each in writes:
            write(store, *each)
        assert seen == sorted(set(seen))

    def test_no_search_for_cycles_looks_at_what_is_stored(self):
        store = Store()
        owner = {"uid": "o", "kind": "Thing", "name": "b", "controller": True}
        metadata = {"name": "a", "labels": {"app": "x"}, "ownerReferences": [owner]}
        made = store.put("things", ("", "a"), {"kind": "Thing", "metadata": metadata}, {"f": "v"})
        assert made.facts.metadata.owner_references
        assert not gc.is_tracked(made)


class TestHistory:
    def test_what_is_older_than_the_history_is_expired(self):
        store = Store(history_max=2)
        for name in "abcd":
            write(store, "put", "x", name)
        with pytest.raises(WatchExpired):
            store.since("things", 1)

    def test_what_the_history_reaches_is_complete(self):
        store = Store(history_max=2)
        for name in "abcd":
            write(store, "put", "x", name)
        assert [e.entry.name for e in store.since("things", store.revision - 2)] == ["c", "d"]

    def test_all_kinds_share_a_budget_of_bytes_and_the_oldest_go_first(self):
        store = Store(history_bytes_max=2_000)
        for number in range(100):
            kind = "old" if number < 5 else f"new{number % 3}"
            store.put(kind, ("x", f"n{number}"), {"metadata": {"name": f"n{number}"}}, {})
        kept = [event for bucket in store.buckets.values() for event in bucket.history]
        assert sum(len(event.entry.raw) for event in kept) <= 2_000
        assert sorted(e.rv for e in kept) == list(range(102 - len(kept), 102))
        assert [e.entry.name for e in store.since("new0", store.revision - 3)] == ["n99"]

    def test_a_past_of_which_nothing_is_remembered_is_expired(self):
        store = Store(history_max=0)
        write(store, "put", "x", "a")
        version = store.revision
        assert list(store.at("things", version, None))
        write(store, "put", "x", "b")
        with pytest.raises(WatchExpired):
            store.at("things", version, None)

    @given(WRITES, st.integers(0, 40))
    def test_a_replayed_watch_gives_the_state_of_a_list(self, writes, start):
        store = Store()
        for each in writes[:start]:
            write(store, *each)
        version, state = store.revision, set(names(store))
        for each in writes[start:]:
            write(store, *each)
        for event in store.since("things", version):
            (state.discard if event.change is ChangeType.DELETED else state.add)(event.entry.key)
        assert sorted(state) == names(store)

    @given(WRITES, st.integers(0, 40))
    def test_the_past_can_be_read_as_it_was(self, writes, start):
        store = Store()
        for each in writes[:start]:
            write(store, *each)
        version, then = store.revision, [e.raw for e in store.at("things", store.revision, None)]
        for each in writes[start:]:
            write(store, *each)
        assert [e.raw for e in store.at("things", version, None)] == then


class TestOrder:
    @given(WRITES)
    def test_lists_are_in_the_order_of_keys(self, writes):
        store = Store()
        for each in writes:
            write(store, *each)
        assert names(store) == sorted(names(store))

    @given(WRITES, NAMES)
    def test_a_namespace_holds_its_own_objects_only(self, writes, namespace):
        store = Store()
        for each in writes:
            write(store, *each)
        found = [e.key for e in store.at("things", store.revision, namespace)]
        assert found == [key for key in names(store) if key[0] == namespace]


class _Memory:
    """A journal that remembers what it was asked to keep."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Event]] = []

    def commit(self, batch: list[tuple[str, Event]]) -> None:
        self.kept.extend(batch)

    def close(self) -> None:
        pass


class TestJournal:
    @settings(max_examples=30)
    @given(WRITES)
    def test_watchers_see_a_write_after_it_is_committed(self, writes):
        told: list[Any] = []
        journal = _Memory()
        store = Store(journal)
        store.on_dirty = lambda: None
        store.subscribe("things", told.append)
        for each in writes:
            write(store, *each)
            assert not told
        store.flush()
        assert told == [event for _, event in journal.kept]
