"""
Which children went without our doing: what is made again for the same owner asks for it first.

A watch may tell that a child has gone before another tells that its owner has, or was
made anew. Whatever is made for such an owner is collected at once, and would be made
again and again. So a child that was there for this very owner, and that we did not
delete, is made again only if the API server itself says that the owner lives.

Each name is remembered with one owner, and a process that starts knows of none: what
it makes once for nothing is made once.
"""

from typing import TypeVar

from kohort.cluster.port import Address

K = TypeVar("K")
V = TypeVar("V")

KEPT_MAX = 10_000


class Departures:
    """Names of children, each with the uid of the owner that it was there for."""

    def __init__(self) -> None:
        self._held: dict[Address, str] = {}
        self._deleted: dict[str, None] = {}  # uids of what we deleted ourselves

    def note_made(self, address: Address, owner: str) -> None:
        """We made a child for this owner; if it is missing again, it has gone."""
        if owner:
            _put(self._held, address, owner)

    def note_deleted(self, address: Address, uid: str) -> None:
        """We deleted a child: that it goes says nothing about its owner."""
        self._held.pop(address, None)
        _put(self._deleted, uid, None)

    def note_gone(self, address: Address, uid: str, owner: str) -> None:
        """A child has gone: the operator, another controller or a user has deleted it."""
        if uid in self._deleted:
            del self._deleted[uid]
        elif owner:
            _put(self._held, address, owner)

    def is_renewal(self, address: Address, owner: str) -> bool:
        """Whether a child of this name was there before, for this very owner."""
        return bool(owner) and self._held.get(address) == owner


def _put(held: dict[K, V], key: K, value: V) -> None:
    held.pop(key, None)
    held[key] = value
    if len(held) > KEPT_MAX:
        del held[next(iter(held))]
