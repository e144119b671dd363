"""What was worked out of large schemas, kept by content: the same one is often defined again."""

from hashlib import sha256
from typing import Any, Generic, TypeVar

import orjson

K = TypeVar("K")
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """The last results, and no more than so many of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[K, V] = {}

    def __contains__(self, key: K) -> bool:
        return key in self._held

    def find(self, key: K) -> V | None:
        """A result, if it is still known."""
        return self._held.get(key)

    def remember(self, key: K, value: V) -> None:
        """Keep a result, and forget the oldest one where there are too many."""
        self._held[key] = value
        if len(self._held) > self._most:
            del self._held[next(iter(self._held))]


def hash_schema(schema: Any) -> bytes:
    """A hash of a schema; nothing for one that cannot be written, such as with a huge number."""
    try:
        return sha256(orjson.dumps(schema)).digest()
    except TypeError:
        return b""
