"""A store on disk gives back what it held, and refuses files that it cannot use."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from children import started
from kohort.apiserver.store.entries import Event
from kohort.apiserver.store.sqlite import StorageError, open_store
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import WatchExpired


def put(store: Store, name: str, bucket: str = "pods", **labels: str) -> int:
    obj = {"metadata": {"name": name, "uid": f"uid-{name}", "labels": labels}}
    return store.put(bucket, ("ns", name), obj, {"metadata.name": name}).rv


def remove(store: Store, name: str, bucket: str = "pods") -> int:
    entry = store.find(bucket, ("ns", name))
    assert entry is not None
    return store.remove(bucket, entry.key, entry.decode(), entry.fields).rv


def reopen(store: Store, path: Path, history_max: int = 100) -> Store:
    store.close()
    return open_store(path, history_max)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "store.db"


def test_objects_come_back_with_their_fields_labels_and_versions(path: Path):
    store = open_store(path)
    version = put(store, "a", app="web")
    store = reopen(store, path)
    entry = store.find("pods", ("ns", "a"))
    assert entry is not None
    assert (entry.rv, entry.uid, entry.labels) == (version, "uid-a", {"app": "web"})
    assert entry.fields == {"metadata.name": "a"}
    assert entry.decode()["metadata"]["resourceVersion"] == str(version)


def test_versions_go_on_even_if_the_last_write_left_nothing_behind(path: Path):
    store = open_store(path, history_max=0)
    put(store, "a")
    last = remove(store, "a")
    store = reopen(store, path, history_max=0)
    assert not store.bucket("pods").entries
    assert put(store, "b") == last + 1


def test_a_watch_resumes_with_what_objects_were_before(path: Path):
    store = open_store(path)
    seen = put(store, "a", app="old")
    put(store, "a", app="new")
    remove(store, "a")
    changed, removed = reopen(store, path).since("pods", seen)
    assert changed.previous is not None
    assert removed.previous is changed.entry
    assert (changed.previous.labels, changed.entry.labels) == ({"app": "old"}, {"app": "new"})


def test_what_left_the_history_is_too_old_after_a_restart_too(path: Path):
    store = open_store(path, history_max=2)
    first, *_ = [put(store, name) for name in "abcd"]
    store = reopen(store, path, history_max=2)
    with pytest.raises(WatchExpired):
        store.since("pods", first)
    assert len(store.bucket("pods").entries) == 4


def test_the_file_does_not_grow_with_the_number_of_writes(path: Path):
    store = open_store(path, history_max=10)
    for number in range(200):
        put(store, "busy", count=str(number))
    store.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM versions").fetchone()[0] <= 12
    file.close()


def test_subscribers_hear_of_a_write_after_its_commit(path: Path):
    store = open_store(path)
    store.on_dirty = lambda: None
    heard: list[Event] = []
    store.subscribe("pods", heard.append)
    put(store, "a")
    assert not heard
    assert not store.is_settled
    store.flush()
    assert [event.entry.name for event in heard] == ["a"]
    assert store.is_settled


def test_a_batch_that_cannot_be_committed_is_kept_for_another_try(path: Path):
    store = open_store(path)
    store.on_dirty = lambda: None
    put(store, "a")
    journal: Any = store._journal
    journal._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StorageError, match="cannot write to"):
        store.flush()
    journal._connection.execute("PRAGMA query_only = OFF")
    store.flush()
    assert reopen(store, path).find("pods", ("ns", "a")) is not None


def refused(path: Path) -> str:
    """The sentence with which a file is refused; the file stays as it is."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StorageError) as caught:
        open_store(path)
    assert (path.read_bytes() if path.is_file() else None) == before
    sentence = str(caught.value)
    assert str(path.parent) in sentence
    assert "\n" not in sentence
    return sentence


def test_a_file_that_is_no_database_is_left_alone(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"my thesis" * 1000)
    assert "is damaged" in refused(path)


def test_a_damaged_database_is_left_alone(path: Path):
    store = open_store(path)
    for number in range(500):
        put(store, f"pod-{number}")
    store.close()
    content = bytearray(path.read_bytes())
    content[8192:16384] = os.urandom(8192)
    path.write_bytes(content)
    assert "is damaged" in refused(path)


def test_a_shortened_database_is_left_alone(path: Path):
    store = open_store(path)
    for number in range(500):
        put(store, f"pod-{number}")
    store.close()
    path.write_bytes(path.read_bytes()[:20_000])
    assert "is damaged" in refused(path)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_log_whose_database_was_emptied_is_left_alone(path: Path, tmp_path: Path, is_there: bool):
    store = open_store(path)
    put(store, "a")
    copy = tmp_path / "copy" / path.name
    copy.parent.mkdir()
    log = copy.with_name(f"{path.name}-wal")
    log.write_bytes(path.with_name(log.name).read_bytes())
    store.close()
    if is_there:
        copy.touch()
    with pytest.raises(StorageError, match="is damaged"):
        open_store(copy)
    assert log.stat().st_size
    assert copy.exists() == is_there


def test_an_object_that_is_no_longer_json_means_damage(path: Path):
    store = open_store(path)
    put(store, "a")
    store.close()
    with sqlite3.connect(path) as file:
        file.execute("UPDATE versions SET raw = x'00'")
    file.close()
    assert "is damaged" in refused(path)


def test_the_database_of_another_program_is_left_alone(path: Path):
    path.parent.mkdir()
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE recipes (name TEXT)")
    file.close()
    assert "belongs to another program" in refused(path)


def test_another_format_is_named(path: Path):
    open_store(path).close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 7")
    file.close()
    assert "format 7 and this Kohort reads format 1" in refused(path)


def test_a_file_in_the_place_of_the_folder_is_refused(path: Path):
    path.parent.write_text("in the way")
    assert "cannot use" in refused(path)


def test_a_folder_in_the_place_of_the_file_is_refused(path: Path):
    path.mkdir(parents=True)
    assert "cannot write to" in refused(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_unwritable_folder_is_refused(path: Path):
    path.parent.mkdir(mode=0o500)
    assert "cannot write to" in refused(path)


def test_a_second_store_in_the_same_process_is_refused(path: Path):
    store = open_store(path)
    assert "in use by another process" in refused(path)
    put(store, "a")
    store.close()
    open_store(path).close()


def test_a_second_process_is_refused(path: Path):
    code = (
        "import sys; from kohort.apiserver.store.sqlite import open_store; "
        "store = open_store(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(path)]
    pipe = subprocess.PIPE
    with started(command, stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        assert "in use by another process" in refused(path)
        holder.communicate("")
    open_store(path).close()


NAMES = st.sampled_from("abc")
BUCKETS = st.sampled_from(["pods", "nodes"])
STEPS = st.one_of(
    st.tuples(st.just("put"), BUCKETS, NAMES, st.sampled_from("xyz")),
    st.tuples(st.just("remove"), BUCKETS, NAMES, st.just("")),
    st.tuples(st.just("reopen"), st.just(""), st.just(""), st.just("")),
    st.tuples(st.just("flush"), st.just(""), st.just(""), st.just("")),
)


def apply(store: Store, step: tuple[str, str, str, str]) -> None:
    action, bucket, name, label = step
    if action == "put":
        put(store, name, bucket, app=label)
    elif action == "remove" and store.find(bucket, ("ns", name)):
        remove(store, name, bucket)


def shown(event: Event) -> tuple[Any, ...]:
    before = event.previous and (event.previous.rv, event.previous.raw, event.previous.fields)
    return event.change, event.entry.key, event.entry.raw, event.entry.labels, before


def state(store: Store) -> dict[str, Any]:
    return {
        name: (
            [(key, home.entries[key].raw, home.entries[key].fields) for key in home.keys],
            home.floor,
            [shown(event) for event in store.since(name, home.floor)],
        )
        for name, home in sorted(store.buckets.items())
        if home.history or home.entries or home.floor
    }


@settings(deadline=None, max_examples=60)
@given(steps=st.lists(STEPS, max_size=40), history_max=st.sampled_from([0, 1, 3, 20, 100]))
def test_reopening_at_any_point_changes_nothing(steps, history_max: int):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        plain, kept = Store(history_max=history_max), open_store(path, history_max)
        for step in steps:
            kept.on_dirty = lambda: None
            apply(plain, step)
            apply(kept, step)
            if step[0] == "flush":
                kept.flush()
            if step[0] == "reopen":
                kept = reopen(kept, path, history_max)
        kept = reopen(kept, path, history_max)
        assert (kept.revision, state(kept)) == (plain.revision, state(plain))
        kept.close()


def test_the_file_does_not_grow_with_the_number_of_restarts(path: Path):
    store = open_store(path, history_max=10)
    for number in range(60):
        put(store, "busy", count=str(number))
        if number % 9 == 0:
            store = reopen(store, path, history_max=10)
    store.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM versions").fetchone()[0] <= 12
    file.close()
