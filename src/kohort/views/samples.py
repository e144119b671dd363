"""
This is where lists of raw objects become snapshots, as caches do it for the operator.

An object that cannot be decoded is left out: one bad child must not hide the
rest. Cluster-wide children, such as nodes, are not needed to read a workload and
are not asked for, so a person needs rights in one namespace only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from kohort.apis.api import Api, Key, Settings, Snapshot, Watched
from kohort.apis.facts import UNDECODABLE
from kohort.apis.references import Reference
from kohort.cluster.objects import Kind, Object, name_of, namespace_of


@dataclass(frozen=True, slots=True)
class Sample:
    """A snapshot, and its members as the server sent them."""

    snapshot: Snapshot
    members: Mapping[str, bytes]  # by name
    details: Mapping[str, Object] = field(default_factory=dict)  # of those kept in part only

    def find_member(self, name: str) -> Object | None:
        """A member in full, decoded on demand."""
        raw = self.members.get(name)
        found: Object | None = orjson.loads(raw) if raw is not None else self.details.get(name)
        return found


# Commands that only read do not know the operator's flags: it records them on the objects.
UNTOLD = Settings(strategy="")


def needed(api: Api) -> tuple[Watched, ...]:
    """The kinds of children that are listed to read a workload, as far as they are served."""
    return tuple(w for w in api.watched if w.kind.namespaced)


def gather(
    api: Api,
    roots: Iterable[bytes],
    children: Mapping[Kind, Sequence[bytes]],
    settings: Settings = UNTOLD,
    unserved: frozenset[Kind] = frozenset(),
) -> list[Sample]:
    """The snapshots of all roots, in their order; children hold what roots name as well."""
    shelves: dict[Kind, dict[Key, list[Any]]] = {}
    members: dict[Key, dict[str, bytes]] = {}
    for watched in needed(api):
        shelf = shelves.setdefault(watched.kind, {})
        for raw in children.get(watched.kind, ()):
            child = _find_decoded(watched, raw)
            for key in watched.owners(child) if child is not None else ():
                shelf.setdefault(key, []).append(child)
                if watched.kind == api.members:
                    members.setdefault(key, {})[child.metadata.name] = raw
    named = {
        each.kind: shelve(each, _decode_all(each, children.get(each.kind, ())))
        for each in api.references
    }
    readable = (api.find_stray(root)[0] for root in map(orjson.loads, roots))
    own = (root for root in readable if api.is_workload(root))
    samples = (_sample(root, shelves, members, settings, unserved) for root in own)
    return [add_references(api, sample, named) for sample in samples]


def shelve(reference: Reference, objects: Iterable[Any]) -> dict[Key, list[Any]]:
    """The objects that workloads may name, by the names that they are known by."""
    shelf: dict[Key, list[Any]] = {}
    for child in objects:
        own = ((child.metadata.namespace, child.metadata.name),)
        for name in own if reference.names_of is None else reference.names_of(child):
            shelf.setdefault(name, []).append(child)
    return shelf


def add_references(
    api: Api, sample: Sample, named: Mapping[Kind, Mapping[Key, list[Any]]]
) -> Sample:
    """The sample with the objects that its workload refers to; none if it cannot be read."""
    if not api.references:
        return sample
    found: dict[Kind, tuple[Any, ...]] = {}
    for reference in api.references:
        shelf = named[reference.kind]
        try:
            names = reference.find_names(sample.snapshot.root)
        except UNDECODABLE:
            names = ()
        found[reference.kind] = tuple(child for name in names for child in shelf.get(name, ()))
    return replace(sample, snapshot=replace(sample.snapshot, references=found))


def _sample(
    root: Object,
    shelves: Mapping[Kind, Mapping[Key, list[Any]]],
    members: Mapping[Key, Mapping[str, bytes]],
    settings: Settings,
    unserved: frozenset[Kind],
) -> Sample:
    key = (namespace_of(root), name_of(root))
    snapshot = Snapshot(
        root=root,
        children={kind: tuple(shelf.get(key, ())) for kind, shelf in shelves.items()},
        settings=settings,
        unserved=unserved,
    )
    return Sample(snapshot, members.get(key, {}))


def _decode_all(reference: Reference, raws: Iterable[bytes]) -> Iterable[Any]:
    decoded = (_find_decoded(reference, raw) for raw in raws)
    return (found for found in decoded if found is not None)


def _find_decoded(watched: Watched | Reference, raw: bytes) -> Any:
    try:
        return watched.decode(raw)
    except UNDECODABLE:
        return None
