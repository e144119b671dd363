"""
Entries: stored objects as encoded bytes, with the few facts that are asked for often.

An entry never changes; a write makes a new one. The object is decoded on demand
and not kept, because a dictionary costs six times the memory of its JSON. What
selectors and the garbage collector ask for on every object is taken out once,
when the object is at hand anyway.

All objects of a kind have the same names of fields for selectors, so these are kept once and each
object has its values only. Labels that many objects share are kept once too.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from sys import intern
from typing import Any

import msgspec
import orjson

from kohort.cluster.objects import Object

_SHARED_MAX = 10_000
_SHARED_LABELS_MAX = 64  # of one object; more of them hardly repeat
_places: dict[tuple[str, ...], dict[str, int]] = {}
_labels: dict[tuple[tuple[str, str], ...], dict[str, str]] = {}
NO_LABELS: dict[str, str] = {}


class Fields(Mapping[str, str]):
    """The values of one object, by name."""

    __slots__ = ("_places", "ordered")

    def __init__(self, places: dict[str, int], ordered: tuple[str, ...]) -> None:
        self._places = places
        self.ordered = ordered

    def __getitem__(self, name: str) -> str:
        return self.ordered[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self.ordered)


def keep_names(values: Mapping[str, str]) -> dict[str, int]:
    """The index of each name's value, as one dictionary for all objects with these names."""
    names = tuple(values)
    found = _places.get(names)
    if found is None:
        found = _places[names] = {name: place for place, name in enumerate(names)}
    return found


def keep_labels(labels: dict[str, str] | None) -> dict[str, str]:
    """The same labels, as one dictionary for all objects that have them."""
    if not labels:
        return NO_LABELS
    if len(labels) > _SHARED_LABELS_MAX:
        return dict(labels)
    pairs = tuple(labels.items())
    found = _labels.get(pairs)
    if found is None:
        if len(_labels) >= _SHARED_MAX:
            _labels.clear()
        # A copy, since the caller that stored the object may go on to change it.
        found = _labels[pairs] = dict(pairs)
    return found


class OwnerFacts(msgspec.Struct, gc=False, rename="camel"):
    """One owner reference."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class MetaFacts(msgspec.Struct, gc=False, rename="camel"):
    """The metadata that controllers read, besides the entry's own fields."""

    generation: int = 0
    owner_references: tuple[OwnerFacts, ...] = ()
    finalizers: tuple[str, ...] = ()
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None


class ConditionFacts(msgspec.Struct, gc=False, rename="camel"):
    """One condition, without reason and message."""

    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class SpecFacts(msgspec.Struct, gc=False, rename="camel"):
    """The fields of a pod's spec that other components read."""

    node_name: str = ""


class StatusFacts(msgspec.Struct, gc=False, rename="camel"):
    """The fields of a pod's status that other components read."""

    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    conditions: tuple[ConditionFacts, ...] | None = None


class Facts(msgspec.Struct, gc=False, rename="camel"):
    """The fields of an object that most controllers need, decoded without the rest.

    Facts hold nothing that could refer back to them, so the collector of cycles
    need not look at the hundred thousands of them.
    """

    metadata: MetaFacts
    spec: SpecFacts | None = None  # of a pod or a node; other kinds have none here
    status: StatusFacts | None = None

    @property
    def is_leaving(self) -> bool:
        """Whether the object is being deleted."""
        return self.metadata.deletion_timestamp is not None

    @property
    def phase(self) -> str:
        """A pod's phase."""
        return self.status.phase if self.status else ""

    @property
    def is_ready(self) -> bool:
        """Whether the condition Ready is true."""
        conditions = (self.status.conditions if self.status else None) or ()
        return any(c.type == "Ready" and c.status == "True" for c in conditions)


class _Head(msgspec.Struct, gc=False):
    """The part that objects of every kind have in common."""

    metadata: MetaFacts


# Objects are stored with their kind first. Only these two have a spec and a status that
# others look at; the author of a definition may give these names to anything.
_WITH_STATUS = (b'{"kind":"Pod","apiVersion":"v1",', b'{"kind":"Node","apiVersion":"v1",')
_decoder = msgspec.json.Decoder(Facts)
_head_decoder = msgspec.json.Decoder(_Head)


def _decode_facts(raw: bytes) -> Facts:
    """The facts of an object; texts that thousands of objects share are kept once."""
    if raw.startswith(_WITH_STATUS):
        facts = _decoder.decode(raw)
    else:
        facts = Facts(_head_decoder.decode(raw).metadata)
    for owner in facts.metadata.owner_references:
        owner.api_version, owner.kind = intern(owner.api_version), intern(owner.kind)
        owner.name, owner.uid = intern(owner.name), intern(owner.uid)
    facts.metadata.creation_timestamp = intern(facts.metadata.creation_timestamp)
    if facts.spec is not None:
        facts.spec.node_name = intern(facts.spec.node_name)
    if facts.status is not None:
        facts.status.phase = intern(facts.status.phase)
        for condition in facts.status.conditions or ():
            condition.type, condition.status = intern(condition.type), intern(condition.status)
            condition.last_transition_time = intern(condition.last_transition_time or "") or None
    return facts


class StoredObject(msgspec.Struct, gc=False, eq=False):
    """
    One version of one stored object.

    It holds nothing that could refer back to it, so the collector of cycles need not look at it:
    with the versions that histories keep there are tens of thousands, and a search would stop
    all work for a tenth of a second.
    """

    key: tuple[str, str]  # (namespace, name)
    rv: int
    raw: bytes
    uid: str
    labels: dict[str, str]
    owners: tuple[str, ...]
    controller: str
    is_leaving: bool
    _places: dict[str, int]
    _values: tuple[str, ...]
    _facts: Facts | None = None
    _seen: dict[str, tuple[int, "StoredObject"]] | None = None

    @classmethod
    def make(
        cls, key: tuple[str, str], rv: int, obj: Object, fields: Mapping[str, str], raw: bytes
    ) -> "StoredObject":
        """An entry for an object that was just encoded as these bytes."""
        metadata = obj["metadata"]
        owners: list[dict[str, Any]] = metadata.get("ownerReferences") or []
        return cls(
            key,
            rv,
            raw,
            metadata.get("uid", ""),
            keep_labels(metadata.get("labels")),
            tuple([intern(owner["uid"]) for owner in owners]) if owners else (),
            next((intern(o["uid"]) for o in owners if o.get("controller")), "") if owners else "",
            metadata.get("deletionTimestamp") is not None,
            keep_names(fields),
            tuple(fields.values()),
        )

    @property
    def fields(self) -> Mapping[str, str]:
        """The values for field selectors."""
        return Fields(self._places, self._values)

    @property
    def namespace(self) -> str:
        """The namespace; empty for cluster-wide objects."""
        return self.key[0]

    @property
    def name(self) -> str:
        """The name."""
        return self.key[1]

    @property
    def facts(self) -> Facts:
        """The facts that most controllers need, decoded once."""
        if self._facts is None:
            self._facts = _decode_facts(self.raw)
        return self._facts

    def keep_seen(self, api_version: str, view: int, seen: "StoredObject") -> None:
        """Cache the object in another version, under the number of that version's view."""
        self._seen = {**(self._seen or {}), api_version: (view, seen)}

    def find_seen(self, api_version: str, view: int) -> "StoredObject | None":
        """The cached object in another version; None if there is none."""
        found = self._seen.get(api_version) if self._seen is not None else None
        return found[1] if found is not None and found[0] == view else None

    def decode(self) -> Object:
        """The whole object, as a fresh dictionary that the caller may change."""
        decoded: Object = orjson.loads(self.raw)
        return decoded


class ChangeType(StrEnum):
    """What happened to an object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Event(msgspec.Struct, gc=False, eq=False):
    """One committed change: the entry after it, and the one before."""

    change: ChangeType
    entry: StoredObject  # for DELETED: the last state, with the version of the deletion
    previous: StoredObject | None

    @property
    def rv(self) -> int:
        """The version at which it was committed."""
        return self.entry.rv
