"""
Results for large schemas and their parts, cached by hash: the same schema is often defined again.

A definition has no references, so a pod template is written out wherever one is used, and sixty
times in our own definitions. A check of schemas walks through such a part the first time; if it
finds no error there, it skips every equal part later. Parts are compared by their hash. The
``question`` names the check, and the context of the part on which its result depends.
"""

from collections.abc import Callable, Hashable, Iterable
from hashlib import sha256
from typing import Any, Generic, TypeVar

import orjson

from kohort.cluster.objects import Object

K = TypeVar("K")
V = TypeVar("V")


class ResultCache(Generic[K, V]):
    """A cache that keeps the newest results, up to a limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._held

    def find(self, key: K) -> V | None:
        """A result, if the cache still has it."""
        return self._held.get(key)

    def remember(self, key: K, value: V) -> None:
        """Store a result, and drop the oldest one if there are too many."""
        self._held[key] = value
        if len(self._held) > self._most:
            del self._held[next(iter(self._held))]


def hash_schema(schema: Any) -> bytes:
    """A hash of a schema; empty if the schema cannot be encoded, as with a huge number."""
    try:
        return sha256(orjson.dumps(schema)).digest()
    except TypeError:
        return b""


T = TypeVar("T")
_FIELDS_MIN = 10  # Smaller parts are walked through faster than they are hashed.
_nothing_found: ResultCache[tuple[Hashable, bytes], bool] = ResultCache(4096)


def hash_part(schema: Object) -> bytes:
    """The hash of a large part; empty if it is small, or cannot be hashed."""
    return hash_schema(schema) if len(schema.get("properties") or ()) >= _FIELDS_MIN else b""


def look_once(question: Hashable, schema: Object, find: Callable[[], Iterable[T]]) -> Iterable[T]:
    """The results of ``find``, which is not called if it found nothing in an equal part before."""
    part = hash_part(schema)
    if not part:
        return find()
    if (question, part) in _nothing_found:
        return ()
    found = list(find())
    if not found:
        _nothing_found.remember((question, part), True)
    return found
