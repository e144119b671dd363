"""
Which of our own writes the caches have seen: no plan is made on caches older than them.

For each key, and each kind that the operator wrote for it, this remembers the highest
resourceVersion of the API server's answers, and for each delete the uid. A cache that
has reached the version, by an event or a bookmark, has seen the write. A cache has seen a
delete when it holds no object of the name, another object, or one with a deletionTimestamp:
graceful termination takes long, and the key need not wait for it.

No write is counted or kept by name alone, so a missed event or a relist can never leave
a key waiting for something that will not come.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from kohort.cluster.objects import Kind
from kohort.controller.caches.cache import Cache, Key


@dataclass(slots=True)
class _Awaited:
    """The versions and deletes that one key waits for."""

    versions: dict[Kind, int] = field(default_factory=dict)
    deletes: dict[tuple[Kind, Key], str] = field(default_factory=dict)


class Watermarks:
    """The writes of each key that the caches have not seen yet."""

    def __init__(self, caches: Iterable[Cache[Any]] = ()) -> None:
        self._caches: dict[Kind, list[Cache[Any]]] = {}
        self._awaited: dict[Hashable, _Awaited] = {}
        for cache in caches:
            self.add(cache)

    def add(self, cache: Cache[Any]) -> None:
        """Let keys wait until this cache has seen their writes of its kind."""
        self._caches.setdefault(cache.selection.kind, []).append(cache)

    def note_write(self, key: Hashable, kind: Kind, version: str) -> None:
        """Note that the API server answered a write for the key with this version."""
        if kind in self._caches and version.isdigit():
            awaited = self._awaited.setdefault(key, _Awaited())
            awaited.versions[kind] = max(awaited.versions.get(kind, 0), int(version))

    def note_delete(self, key: Hashable, kind: Kind, name: Key, uid: str) -> None:
        """Note that the API server accepted a delete for the key."""
        if kind in self._caches and uid:
            self._awaited.setdefault(key, _Awaited()).deletes[kind, name] = uid

    def is_caught_up(self, key: Hashable) -> bool:
        """Whether the caches have seen all writes of the key."""
        awaited = self._awaited.get(key)
        if awaited is None:
            return True
        awaited.versions = {
            kind: version
            for kind, version in awaited.versions.items()
            if any(cache.version < version for cache in self._caches[kind])
        }
        awaited.deletes = {
            (kind, name): uid
            for (kind, name), uid in awaited.deletes.items()
            if any(_still_has(cache, name, uid) for cache in self._caches[kind])
        }
        if awaited.versions or awaited.deletes:
            return False
        del self._awaited[key]
        return True

    def is_gone(self, kind: Kind, name: Key, uid: str) -> bool:
        """Whether the caches show that this very object is deleted or terminating."""
        caches = self._caches.get(kind, ())
        return bool(caches) and not any(_still_has(cache, name, uid) for cache in caches)

    def has(self, kind: Kind, name: Key) -> bool:
        """Whether the caches hold an object of this name."""
        return any(cache.find_entry(name) is not None for cache in self._caches.get(kind, ()))

    def find_labels(self, kind: Kind) -> set[str]:
        """The labels by which the caches select objects of this kind."""
        return {cache.selection.labels for cache in self._caches.get(kind, ())} - {""}

    def find_kind(self, api_version: str, name: str) -> Kind | None:
        """The kind that an owner reference names, if the operator watches it."""
        return next(
            (k for k in self._caches if (k.api_version, k.name) == (api_version, name)), None
        )

    def explain(self, key: Hashable) -> str:
        """A sentence about the writes that the key waits for."""
        awaited = self._awaited.get(key, _Awaited())
        writes = [f"{kind.plural} at {version}" for kind, version in awaited.versions.items()]
        deletes = [f"{kind.plural} {name[1]} gone" for kind, name in awaited.deletes]
        return ", ".join([*writes, *deletes])

    def forget(self, key: Hashable) -> None:
        """Drop the writes of a key that was deleted."""
        self._awaited.pop(key, None)


def _still_has(cache: Cache[Any], name: Key, uid: str) -> bool:
    entry = cache.find_entry(name)
    return entry is not None and entry.uid == uid and not entry.is_leaving
