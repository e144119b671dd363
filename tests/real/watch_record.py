"""
What watches told of one namespace, in the order in which it happened there.

Versions are revisions of one store, so they order the changes of all kinds, however
late each watch was told.
"""

import time
from dataclasses import dataclass, field

from kohort.cluster.objects import Kind, Object


@dataclass(frozen=True, slots=True)
class Seen:
    """One change: what the object is now, or was last, and when we heard of it."""

    kind: Kind
    type: str  # ADDED, MODIFIED or DELETED
    obj: Object
    at: float

    @property
    def version(self) -> str:
        """The version that the change led to."""
        version: str = self.obj["metadata"]["resourceVersion"]
        return version


@dataclass(slots=True)
class Record:
    """All changes of a namespace since it was made."""

    has_gaps: bool = False  # a watch had to begin anew, and nobody knows what it missed
    _seen: list[Seen] = field(default_factory=list)

    def note(self, kind: Kind, change: str, obj: Object) -> None:
        """Keep one change."""
        self._seen.append(Seen(kind, change, obj, time.monotonic()))

    def in_order(self) -> list[Seen]:
        """All changes, oldest first, with times that never go back."""
        ordered = sorted(self._seen, key=lambda seen: int(seen.version))
        latest = 0.0
        result = []
        for seen in ordered:
            latest = max(latest, seen.at)
            result.append(Seen(seen.kind, seen.type, seen.obj, latest))
        return result
