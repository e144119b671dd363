"""
What watches told of one namespace, in the order in which it happened there.

Versions are revisions of one store, so they order the changes of all kinds, however
late each watch was told.
"""

import time
from dataclasses import dataclass, field

from kohort.cluster.objects import Kind, Object, uid_of


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

    has_gaps: bool = False  # a watch had to begin anew, and does not know what it missed
    _seen: list[Seen] = field(default_factory=list)
    _versions: set[str] = field(default_factory=set)

    def note(self, kind: Kind, change: str, obj: Object, at: float | None = None) -> None:
        """Keep one change, unless it is known; others than watches may have told of it."""
        seen = Seen(kind, change, obj, time.time() if at is None else at)
        if seen.version not in self._versions:
            self._versions.add(seen.version)
            self._seen.append(seen)

    def note_listing(self, kind: Kind, before: list[Object], now: list[Object], at: str) -> None:
        """A watch begins anew: keep what differs, with what is gone as of the listing."""
        self.has_gaps = True
        for obj in now:
            self.note(kind, "MODIFIED", obj)
        left = {uid_of(obj) for obj in now}
        for obj in before:
            if uid_of(obj) not in left:
                metadata = {**obj["metadata"], "resourceVersion": f"{at}.{uid_of(obj)}"}
                self.note(kind, "DELETED", {**obj, "metadata": metadata})

    def in_order(self) -> list[Seen]:
        """All changes, oldest first, with times that never go back."""
        ordered = sorted(self._seen, key=lambda seen: int(seen.version.partition(".")[0]))
        latest = 0.0
        result = []
        for seen in ordered:
            latest = max(latest, seen.at)
            result.append(Seen(seen.kind, seen.type, seen.obj, latest))
        return result
