"""A cache of results for large schemas, by hash: the same schema is often defined again."""

from hashlib import sha256
from typing import Any, Generic, TypeVar

import orjson

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
