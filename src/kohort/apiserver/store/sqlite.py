"""
The SQLite file of a store, from which the next start continues even after a kill.

There is one table of versions, and every write adds one row to it. The rows of
an object are always the newest part of its life: a version is dropped when the
event that replaced it leaves the history, and a deletion when it leaves the
history itself. So the same rows give back the objects, the recent events and
what each object was before an event.

A batch is one transaction in write-ahead mode. The file is locked as long as it
is open: two processes never share it. Nothing here repairs, replaces or removes
a file; what cannot be used is refused with a ``StorageError`` that says what to do.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import orjson

from kohort.apiserver.store.entries import ChangeType, Event, StoredObject
from kohort.apiserver.store.store import HISTORY_EVENTS_MAX, Store
from kohort.cluster.errors import KohortError

SCHEMA_VERSION = 1
APPLICATION_ID = 0x6B6F686F  # "koho", which tells our files from those of other programs

_PAGES_BEFORE_CHECKPOINT = 4_000
_TABLES = f"""
BEGIN;
CREATE TABLE versions (
    rv INTEGER PRIMARY KEY,
    bucket TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    change TEXT NOT NULL,
    previous INTEGER,
    fields BLOB NOT NULL,
    raw BLOB NOT NULL
);
CREATE TABLE floors (bucket TEXT PRIMARY KEY, floor INTEGER NOT NULL);
CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), revision INTEGER NOT NULL);
INSERT INTO state VALUES (1, 1);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
_INSERT = "INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_FLOOR = "INSERT OR REPLACE INTO floors VALUES (?, ?)"

_Row = tuple[int, str, str, str, str, int | None, bytes, bytes]


class StorageError(KohortError):
    """The file of a store cannot be used; the text is one sentence for a person."""


class _Head(msgspec.Struct):
    """The part of an object that an entry is made from."""

    metadata: dict[str, Any]


_heads = msgspec.json.Decoder(_Head)


class Kept(msgspec.Struct):
    """The content of a file: objects, version and history."""

    revision: int
    floors: dict[str, int]
    entries: list[tuple[str, StoredObject]]
    events: list[tuple[str, Event]]


class SqliteJournal:
    """Commits writes to one file, which it holds until it is closed."""

    def __init__(self, path: Path | str, history_max: int = HISTORY_EVENTS_MAX) -> None:
        self.path = Path(path)
        self._history_max = history_max
        # Dropping a few rows at once costs less than dropping one with each write.
        self._slack = history_max // 16
        self._windows: dict[str, deque[tuple[int, list[int]]]] = {}
        with self._explained():
            self._connection = _open(self.path)
        try:
            with self._explained():
                self._prepare()
        except StorageError:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        application = run("PRAGMA application_id").fetchone()[0]
        version = run("PRAGMA user_version").fetchone()[0]
        is_empty = run("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not is_empty and application != APPLICATION_ID:
            raise StorageError(
                f"{self.path} belongs to another program; choose another data folder"
            )
        if not is_empty and version != SCHEMA_VERSION:
            raise StorageError(
                f"{self.path} was written in format {version} and this Kohort reads format "
                f"{SCHEMA_VERSION}; use the Kohort that wrote it, or choose another data folder"
            )
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        run(f"PRAGMA wal_autocheckpoint = {_PAGES_BEFORE_CHECKPOINT}")
        if is_empty:
            self._connection.executescript(_TABLES)
        # The first write takes the lock, which is then kept.
        run("BEGIN EXCLUSIVE")
        run("COMMIT")

    def load(self) -> Kept:
        """Load everything that was committed; call it once, before the first commit."""
        with self._explained():
            problem = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if problem != "ok":
                raise sqlite3.DatabaseError(problem.splitlines()[-1])
            (revision,) = self._connection.execute("SELECT revision FROM state").fetchone()
            floors = dict(self._connection.execute("SELECT bucket, floor FROM floors"))
            rows = self._connection.execute("SELECT * FROM versions ORDER BY rv")
            kept = _gather(revision, floors, rows)
        for bucket, event in kept.events:
            self._remember(bucket, event)
        return kept

    def commit(self, batch: list[tuple[str, Event]]) -> None:
        """Commit these writes; after it returns, a kill does not lose them."""
        rows = [_write_row(bucket, event) for bucket, event in batch]
        run = self._connection.execute
        with self._explained():
            run("BEGIN")
            try:
                self._connection.executemany(_INSERT, rows)
                run("UPDATE state SET revision = ?", (rows[-1][0],))
                for bucket in {bucket for bucket, _ in batch}:
                    self._prune(bucket)
                run("COMMIT")
            except sqlite3.Error:
                # A failed commit may have ended the transaction already.
                with suppress(sqlite3.Error):
                    run("ROLLBACK")
                raise
        for bucket, event in batch:
            self._remember(bucket, event)

    def _remember(self, bucket: str, event: Event) -> None:
        """Note which versions no watch can need once this event has left the history."""
        obsolete = [] if event.previous is None else [event.previous.rv]
        if event.change is ChangeType.DELETED:
            obsolete.append(event.rv)
        self._windows.setdefault(bucket, deque()).append((event.rv, obsolete))

    def _prune(self, bucket: str) -> None:
        window = self._windows.get(bucket)
        if window is None or len(window) <= self._history_max + self._slack:
            return
        gone: list[tuple[int]] = []
        floor = 0
        while len(window) > self._history_max:
            floor, obsolete = window.popleft()
            gone += [(rv,) for rv in obsolete]
        self._connection.executemany("DELETE FROM versions WHERE rv = ?", gone)
        self._connection.execute(_FLOOR, (bucket, floor))

    def close(self) -> None:
        """Close the file, so that another process may open it."""
        self._connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite into a StorageError with a sentence for users."""
        try:
            yield
        except (sqlite3.Error, msgspec.MsgspecError, orjson.JSONDecodeError, OSError) as error:
            raise StorageError(_explain(self.path, error)) from error
        except (KeyError, TypeError, ValueError) as error:
            # Unreadable rows mean that pages of the file were overwritten.
            raise StorageError(_damaged(self.path, str(error))) from error


def open_store(path: Path | str, history_max: int = HISTORY_EVENTS_MAX) -> Store:
    """Open the store in a file, which is created if it is missing."""
    journal = SqliteJournal(path, history_max)
    try:
        kept = journal.load()
    except StorageError:
        journal.close()
        raise
    store = Store(journal, history_max)
    store.restore(kept.revision, kept.entries)
    store.replay(kept.floors, kept.events)
    return store


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Beside an empty file, SQLite takes a log for a leftover and removes it with all its writes.
    log = path.with_name(f"{path.name}-wal")
    if _size(log) and not _size(path):
        raise StorageError(_damaged(path, f"it is empty, and {log.name} beside it is not"))
    # Waiting for a lock is of no use: the holder keeps it until it ends.
    return sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _write_row(bucket: str, event: Event) -> _Row:
    entry, previous = event.entry, event.previous
    namespace, name = entry.key
    before = None if previous is None else previous.rv
    fields = orjson.dumps(dict(entry.fields))
    return (entry.rv, bucket, namespace, name, event.change, before, fields, entry.raw)


def _gather(revision: int, floors: Mapping[str, int], rows: Iterable[_Row]) -> Kept:
    versions: dict[int, StoredObject] = {}
    live: dict[tuple[str, str, str], StoredObject] = {}
    events: list[tuple[str, Event]] = []
    for rv, bucket, namespace, name, change, previous, fields, raw in rows:
        metadata = _heads.decode(raw).metadata
        key = (namespace, name)
        entry = StoredObject.make(key, rv, {"metadata": metadata}, orjson.loads(fields), raw)
        versions[rv] = entry
        if change == ChangeType.DELETED:
            live.pop((bucket, *key), None)
        else:
            live[bucket, namespace, name] = entry
        if rv > floors.get(bucket, 0):
            before = None if previous is None else versions[previous]
            events.append((bucket, Event(ChangeType(change), entry, before)))
    entries = [(bucket, entry) for (bucket, _, _), entry in live.items()]
    return Kept(revision, dict(floors), entries, events)


def _explain(path: Path, error: Exception) -> str:
    text = str(error)
    if isinstance(error, OSError):
        return f"cannot use {path.parent} as a data folder: {error.strerror}; choose another one"
    if "locked" in text:
        return f"{path} is in use by another process; stop that one, or choose another data folder"
    if "unable to open" in text or "readonly" in text:
        return f"cannot write to {path}; make the folder and the file writable, or choose another"
    if "full" in text or "disk I/O" in text:
        return f"could not write to {path} ({text}); free some space and start again"
    return _damaged(path, text)


def _damaged(path: Path, text: str) -> str:
    return (
        f"{path} is damaged ({text}); it was left as it is: "
        "restore it from a copy, or choose another data folder"
    )
