"""
The caches of the dashboard: those of each API, and those of objects beside workloads.

A change of a child makes the workloads that own it stale; a change of an object that workloads
name makes all workloads of the API stale. Nothing else is read again.

Nodes, all pods, events, leases and domains are optional: a user who may not list nodes sees
workloads without them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson

from kohort.apis.api import Api, Key, Snapshot, Watched
from kohort.apis.facts import UNDECODABLE, Whole
from kohort.apis.gangs.known import DOMAIN
from kohort.apis.home import Home
from kohort.apis.references import Reference
from kohort.cluster.kinds import EVENT, LEASE, NODE, POD
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Selection
from kohort.controller.caches.cache import Cache, Difference
from kohort.controller.caches.informers import Informers
from kohort.dashboard.located_pods import LocatedPod
from kohort.dashboard.turns import take_turns
from kohort.views.evidence.cluster import (
    GONE,
    ClusterFacts,
    NodeState,
    OperatorState,
    find_subject,
    read_lease,
    read_node,
)
from kohort.views.samples import UNTOLD, Sample, add_references, needed, shelve
from kohort.views.topology.atlas import Atlas, assemble_atlas

_OWNER = "owner"


class Child:
    """A decoded child, with the JSON of a member, which views read in full."""

    __slots__ = ("metadata", "raw", "value")

    def __init__(self, value: Any, raw: bytes) -> None:
        self.value = value
        self.metadata = value.metadata
        self.raw = raw


@dataclass(frozen=True, slots=True)
class _ChildDecoder:
    decode: Callable[[bytes], Any]
    is_member: bool

    def __call__(self, raw: bytes) -> Child:
        return Child(self.decode(raw), raw if self.is_member else b"")


@dataclass(frozen=True, slots=True)
class _OwnerIndex:
    owners: Callable[[Any], tuple[Key, ...]]

    def __call__(self, child: Child) -> Iterable[str]:
        return ("/".join(key) for key in self.owners(child.value))


class ApiWatch:
    """Watches the workloads of one API and their children."""

    def __init__(
        self,
        api: Api,
        informers: Informers,
        namespace: str,
        mark_stale: Callable[["ApiWatch", Key], None],
    ) -> None:
        self.api = api
        self._informers = informers
        self._mark_stale = partial(mark_stale, self)
        roots = Selection(api.kind, namespace if api.kind.namespaced else "", api.selector)
        self.roots: Cache[Whole] = informers.add(roots, Whole, optional=True)
        self._children = [(each, self._add(each, namespace)) for each in needed(api)]
        self._named: dict[Kind, tuple[Reference, Cache[Any]]] = {
            each.kind: (each, informers.add(each.selection, each.decode, optional=True))
            for each in api.references
            if each.is_shown
        }
        self._shelves: dict[Kind, Mapping[Key, list[Any]]] = {}
        self._follow()

    def _add(self, watched: Watched, namespace: str) -> Cache[Child]:
        return self._informers.add(
            Selection(watched.kind, namespace, watched.labels),
            _ChildDecoder(watched.decode, watched.kind == self.api.members),
            {_OWNER: _OwnerIndex(watched.owners)},
            optional=True,
        )

    def _follow(self) -> None:
        self.roots.subscribe(lambda difference: self._mark_stale(difference.key))
        for watched, cache in self._children:
            cache.subscribe(partial(self._take_child, watched))
        for reference, named in self._named.values():
            named.subscribe(partial(self._take_named, reference))

    def _take_child(self, watched: Watched, difference: Difference[Child]) -> None:
        for side in (difference.old, difference.new):
            for key in watched.owners(side.value.value) if side is not None else ():
                if self.roots.find_entry(key) is not None:
                    self._mark_stale(key)

    def _take_named(self, reference: Reference, difference: Difference[Any]) -> None:
        old, new = difference.old, difference.new
        if old is not None and new is not None and reference.is_same(old.value, new.value):
            return
        self._shelves.pop(reference.kind, None)
        for entry in self.roots:
            self._mark_stale(entry.key)

    def find_sample(self, key: Key) -> Sample | None:
        """The workload of that name with its children; None if there is no such workload."""
        found = self.roots.find(key)
        if found is None:
            return None
        try:
            root, _ = self.api.find_stray(found.decode())
        except UNDECODABLE:
            return None
        if not self.api.is_workload(root):
            return None
        children: dict[Kind, tuple[Any, ...]] = {}
        members: dict[str, bytes] = {}
        for watched, cache in self._children:
            held = cache.select(_OWNER, "/".join(key))
            children[watched.kind] = (
                *children.get(watched.kind, ()),
                *(child.value for child in held),
            )
            if watched.kind == self.api.members:
                members.update((child.metadata.name, child.raw) for child in held)
        snapshot = Snapshot(
            root=root, children=children, settings=UNTOLD, unserved=self._find_unserved()
        )
        return add_references(self.api, Sample(snapshot, members), self._shelve())

    def _find_unserved(self) -> frozenset[Kind]:
        absent = self._informers.absent
        return frozenset(w.kind for w, cache in self._children if cache.selection in absent)

    def _shelve(self) -> Mapping[Kind, Mapping[Key, list[Any]]]:
        for reference in self.api.references:
            if reference.kind not in self._shelves:
                entry = self._named.get(reference.kind)
                objects = (held.value for held in entry[1]) if entry else ()
                self._shelves[reference.kind] = shelve(reference, objects)
        return self._shelves


_ABOUT = "about"


class Decoded:
    """An object as a dictionary, decoded once, when it is first read."""

    __slots__ = ("_obj", "_raw", "_read")

    def __init__(self, raw: bytes, read: Callable[[bytes], Object]) -> None:
        self._raw, self._read = raw, read
        self._obj: Object | None = None

    @property
    def obj(self) -> Object:
        """The object."""
        if self._obj is None:
            self._obj, self._raw = self._read(self._raw), b""
        return self._obj


def decode_whole(raw: bytes) -> Decoded:
    """An object with all its fields."""
    made = Decoded(raw, orjson.loads)
    assert made.obj is not None  # the cache leaves undecodable objects out
    return made


def index_subject(event: Decoded) -> Iterable[str]:
    """The uid of the object that an event is about."""
    uid = find_subject(event.obj).get("uid")
    return (uid,) if uid else ()


class ListedNodes(dict[str, NodeState]):
    """The states of all nodes: a node that is not listed has been deleted."""

    def get(self, name: str, default: Any = None) -> Any:
        """The state of a node."""
        return super().get(name, GONE if name else default)


class ClusterWatch:
    """Watches nodes, pods, events, leases and domains."""

    def __init__(
        self, informers: Informers, namespace: str, homes: Iterable[Home], ring: Callable[[], None]
    ) -> None:
        self._informers = informers
        add = informers.add
        self.nodes: Cache[Decoded] = add(Selection(NODE), decode_whole, optional=True)
        self.pods: Cache[LocatedPod] = add(Selection(POD, namespace), LocatedPod, optional=True)
        self.hypernodes: Cache[Decoded] = add(Selection(DOMAIN), decode_whole, optional=True)
        self.events: Cache[Decoded] = add(
            Selection(EVENT, namespace), decode_whole, {_ABOUT: index_subject}, optional=True
        )
        self._leases: dict[Home, Cache[Whole]] = {
            home: add(
                Selection(LEASE, home.namespace, fields=f"metadata.name={home.lease}"),
                Whole,
                optional=True,
            )
            for home in dict.fromkeys(homes)
        }
        self._facts: dict[Home, ClusterFacts] = {}
        self._atlas: Atlas | None = None
        self.map_version = 0  # rises whenever a node or the node of a pod changes
        self._ring = ring
        self._follow()

    def _follow(self) -> None:
        for places in (self.nodes, self.hypernodes):
            places.subscribe(partial(self._take_place, lambda node: _read_place(node.obj)))
        self.pods.subscribe(partial(self._take_place, lambda pod: pod.sitter))
        for cache in (self.nodes, self.events):
            cache.subscribe(self._forget_facts)
        for lease in self._leases.values():
            lease.subscribe(self._forget_facts)

    def _take_place(self, read: Callable[[Any], object], difference: Difference[Any]) -> None:
        """Notice what moves; heartbeats, and pods that become ready, do not change the map."""
        old, new = difference.old, difference.new
        if old is not None and new is not None and read(old.value) == read(new.value):
            return
        self._atlas = None
        self.map_version += 1
        self._ring()

    def _forget_facts(self, difference: Difference[Any]) -> None:
        self._facts = {}

    @property
    def are_nodes_seen(self) -> bool:
        """Whether the user may list nodes and pods."""
        absent = self._informers.absent
        return not any(cache.selection in absent for cache in (self.nodes, self.pods))

    async def read_atlas(self) -> Atlas:
        """The atlas of nodes and pods; others are answered while its pods are read."""
        if self._atlas is not None:
            return self._atlas
        async for pod in take_turns([entry.value for entry in self.pods]):
            assert pod.sitter is not None
        if self._atlas is None:
            self._atlas = assemble_atlas(
                [entry.value.obj for entry in self.nodes],
                [entry.value.sitter for entry in self.pods],
                [entry.value.obj for entry in self.hypernodes],
            )
        return self._atlas

    def read_facts(self, home: Home) -> ClusterFacts:
        """The cluster's facts about workloads: warnings, nodes and the operator's lease."""
        if home not in self._facts:
            nodes = self._read_nodes() if self.nodes.is_ready else {}
            events = (entry.value.obj for entry in self.events)
            warnings = [event for event in events if event.get("type") == "Warning"]
            self._facts[home] = ClusterFacts(nodes, warnings, self._read_operator(home))
        return self._facts[home]

    def _read_nodes(self) -> "ListedNodes":
        return ListedNodes({entry.key[1]: read_node(entry.value.obj) for entry in self.nodes})

    def _read_operator(self, home: Home) -> OperatorState | None:
        lease = next(iter(self._leases[home]), None)
        return read_lease(lease.value.decode()) if lease is not None else None

    def list_events(self, uids: Iterable[str]) -> list[Object]:
        """The events about objects."""
        return [event.obj for uid in uids if uid for event in self.events.select(_ABOUT, uid)]


def _read_place(obj: Object) -> object:
    status: Object = obj.get("status") or {}
    conditions = [(c.get("type"), c.get("status")) for c in status.get("conditions") or ()]
    metadata: Object = obj.get("metadata") or {}
    return (
        obj.get("spec"),
        metadata.get("labels"),
        metadata.get("annotations"),
        status.get("phase"),
        status.get("allocatable"),
        conditions,
    )
