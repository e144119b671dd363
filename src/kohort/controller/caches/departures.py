"""
Children that vanished without a delete of ours: before we recreate one, we read its owner.

One watch may report that a child has gone before another reports that its owner was
deleted or recreated. The garbage collector deletes any new child of a dead owner at once,
and the operator would recreate it again and again. So the operator recreates a child that
existed for this very owner only if the API server itself says that the owner exists.
The owner is the controller of the child, or the first owner of a child without a controller:
the garbage collector deletes both kinds of children.

The memory holds one owner for each name. It is empty after a restart: then the operator
may create a child of a dead owner in vain, but only once.
"""

from typing import TypeVar

from kohort.cluster.port import Address

K = TypeVar("K")
V = TypeVar("V")

KEPT_MAX = 10_000


class Departures:
    """Names of children, each with the uid of the owner that it existed for."""

    def __init__(self) -> None:
        self._held: dict[Address, str] = {}
        self._deleted: dict[str, None] = {}  # uids of objects that the operator deleted

    def note_made(self, address: Address, owner: str) -> None:
        """Note that the operator created a child for this owner."""
        if owner:
            _put(self._held, address, owner)

    def note_deleted(self, address: Address, uid: str) -> None:
        """Note that the operator deleted a child, so its end says nothing about the owner."""
        self._held.pop(address, None)
        _put(self._deleted, uid, None)

    def note_gone(self, address: Address, uid: str, owner: str) -> None:
        """Note that a child has gone, whether the operator or another client deleted it."""
        if uid in self._deleted:
            del self._deleted[uid]
        elif owner:
            _put(self._held, address, owner)

    def is_renewal(self, address: Address, owner: str) -> bool:
        """Whether a child of this name existed before for this very owner."""
        return bool(owner) and self._held.get(address) == owner


def _put(held: dict[K, V], key: K, value: V) -> None:
    held.pop(key, None)
    held[key] = value
    if len(held) > KEPT_MAX:
        del held[next(iter(held))]
