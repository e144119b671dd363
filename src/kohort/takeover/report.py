"""
What a takeover would change, as values: counts of objects, planned writes, and notes; pure.

A planned write is one that our controller would send now for objects as they are. The report is
empty if there is none and every object can be read: then a takeover changes nothing. Where a
write deletes an object, the garbage collector deletes the pods below it, too.

Over time planned writes are new, last, or are no longer planned. A status is planned at most once
a second, so that one is missing from a plan soon after it was seen says nothing yet.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kohort.cluster.objects import Object, metadata_of, name_of, namespace_of, uid_of
from kohort.takeover.field_changes import FieldChange


@dataclass(frozen=True, slots=True)
class ObjectCount:
    """The objects of one kind, and how many of them our controller can plan."""

    kind: str
    objects: int
    readable: int


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """One write that our controller would send."""

    workload: str  # kind, namespace and name
    verb: str  # create, patch or delete
    kind: str
    namespace: str
    name: str
    changes: tuple[FieldChange, ...]  # empty: the whole object
    why: str
    pods: tuple[str, ...] = ()  # that would restart because of it

    @property
    def object(self) -> str:
        """The object that is written, as people name it."""
        return f"{self.kind} {join_name(self.namespace, self.name)}"

    @property
    def identity(self) -> tuple[str, ...]:
        """The identity of a planned write: workload, object, verb and fields."""
        paths = tuple(change.path for change in self.changes)
        return (self.workload, self.verb, self.object, *paths)


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence about one object: a field that is ignored or deprecated, or why it is unread."""

    object: str
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a check."""

    counts: tuple[ObjectCount, ...]
    writes: tuple[PlannedWrite, ...]
    unreadable: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()
    outdated: tuple[str, ...] = ()  # pods that a rollout would replace after these writes

    @property
    def is_empty(self) -> bool:
        """Whether a takeover would change nothing."""
        return not self.writes and not self.unreadable

    @property
    def pods(self) -> tuple[str, ...]:
        """The pods that would restart, each once."""
        written = (pod for write in self.writes for pod in write.pods)
        return tuple(dict.fromkeys((*written, *self.outdated)))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Differences that the user accepts: ``[NAMESPACE/]KIND[/NAME][:FIELD]``."""

    kind: str
    name: str = ""
    namespace: str = ""
    field: str = ""  # with all fields below it

    def covers(self, write: PlannedWrite) -> bool:
        """Whether the write is accepted in all its fields."""
        if self.kind.lower() != write.kind.lower() or self.name not in ("", write.name):
            return False
        if self.namespace not in ("", write.namespace):
            return False
        if not self.field:
            return True
        return bool(write.changes) and all(self._has(change) for change in write.changes)

    def _has(self, change: FieldChange) -> bool:
        rest = change.path.removeprefix(self.field)
        return rest != change.path and rest[:1] in ("", ".", "[")


def read_acceptance(text: str) -> Acceptance:
    """An acceptance from a text such as ``Pod:metadata``; raises ValueError."""
    place, _, field = text.partition(":")
    words = place.split("/")
    if not all(words) or len(words) > 3 or (":" in text and not field):
        raise ValueError(f"must look like [NAMESPACE/]KIND[/NAME][:FIELD], not {text!r}")
    if len(words) == 3:
        return Acceptance(words[1], words[2], words[0], field)
    return Acceptance(words[0], words[1] if len(words) == 2 else "", "", field)


def list_refused(
    writes: Iterable[PlannedWrite], accepted: Iterable[Acceptance]
) -> tuple[PlannedWrite, ...]:
    """The planned writes that the user has not accepted."""
    known = tuple(accepted)
    return tuple(write for write in writes if not any(each.covers(write) for each in known))


def join_name(namespace: str, name: str) -> str:
    """A name with its namespace, if it has one."""
    return f"{namespace}/{name}" if namespace else name


def list_owned_pods(uid: str, objects: Iterable[Object]) -> tuple[str, ...]:
    """The pods among the objects that the object with this uid owns, directly or indirectly."""
    found = list(objects)
    owned: dict[str, list[Object]] = {}
    for obj in found:
        for owner in metadata_of(obj).get("ownerReferences") or ():
            owned.setdefault(str(owner.get("uid", "")), []).append(obj)
    waiting = [obj for obj in found if uid_of(obj) == uid] or owned.get(uid, [])
    gone: dict[str, Object] = {}
    while waiting:
        obj = waiting.pop()
        if uid_of(obj) not in gone:
            gone[uid_of(obj)] = obj
            waiting.extend(owned.get(uid_of(obj), ()))
    pods = [obj for obj in gone.values() if obj.get("kind") == "Pod"]
    return tuple(sorted(join_name(namespace_of(pod), name_of(pod)) for pod in pods))


SOON_SECONDS = 1.0


@dataclass(slots=True)
class Sightings:
    """All planned writes so far, by identity."""

    opened: dict[tuple[str, ...], PlannedWrite] = field(default_factory=dict)
    total: int = 0
    _seen: dict[tuple[str, ...], float] = field(default_factory=dict)

    def note(
        self, workload: str, writes: Iterable[PlannedWrite], now: float
    ) -> tuple[list[PlannedWrite], list[PlannedWrite]]:
        """Note a workload's latest plan; returns the new writes, and those no longer planned."""
        planned = {write.identity: write for write in writes}
        new = [write for key, write in planned.items() if key not in self.opened]
        self._seen.update(dict.fromkeys(planned, now))
        held = {key: write for key, write in self.opened.items() if write.workload == workload}
        gone = [
            write
            for key, write in held.items()
            if key not in planned and now - self._seen[key] > SOON_SECONDS
        ]
        for write in gone:
            del self.opened[write.identity], self._seen[write.identity]
        self.opened.update({write.identity: write for write in new})
        self.total += len(new)
        return new, gone

    def drop(self, workload: str) -> list[PlannedWrite]:
        """Forget a deleted workload; returns its writes."""
        gone = [write for write in self.opened.values() if write.workload == workload]
        for write in gone:
            del self.opened[write.identity], self._seen[write.identity]
        return gone
