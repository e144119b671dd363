"""
Conditions of an object's status: how one is found, and how a new one takes the place of an old.

``lastTransitionTime`` says since when a condition has its status. A condition that only gives
another reason or message keeps the time; where the stored one has none, it is now.
"""

from collections.abc import Iterable, Sequence

from kohort.cluster.objects import Object

SINCE = "lastTransitionTime"


def find(conditions: Iterable[Object], name: str) -> Object | None:
    """The condition of that type."""
    return next((held for held in conditions if held.get("type") == name), None)


def drop(conditions: Iterable[Object], name: str) -> list[Object]:
    """All conditions but those of that type."""
    return [held for held in conditions if held.get("type") != name]


def since(old: Object | None, status: str, now: str) -> str:
    """The transition time of a condition with this status that replaces another."""
    is_same = old is not None and old.get("status") == status
    kept: str | None = old.get(SINCE) if old is not None and is_same else None
    return kept or now


def stamp(new: Object, old: Object | None, now: str) -> Object:
    """A condition with its transition time, given the one that it replaces."""
    return {**new, SINCE: since(old, new["status"], now)}


def put(conditions: Sequence[Object], new: Object, now: str) -> list[Object]:
    """The conditions with a new one in the place of its like, or at the end."""
    old = find(conditions, new["type"])
    stamped = stamp(new, old, now)
    if old is None:
        return [*conditions, stamped]
    return [stamped if held is old else held for held in conditions]


def move_to_end(conditions: Sequence[Object], new: Object, now: str) -> list[Object]:
    """The conditions without the like of a new one, and the new one after them."""
    stamped = stamp(new, find(conditions, new["type"]), now)
    return [*drop(conditions, new["type"]), stamped]
