"""
The caches of one API, and the samples that views are made from.

A change of a child makes the workloads that own it stale; a change of an object that workloads
name makes all workloads of the API stale. Nothing else is read again.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kohort.apis.api import Api, Key, Snapshot, Watched
from kohort.apis.facts import UNDECODABLE, Whole
from kohort.apis.references import Reference
from kohort.cluster.objects import Kind
from kohort.cluster.port import Selection
from kohort.controller.caches.cache import Cache, Difference
from kohort.controller.caches.informers import Informers
from kohort.views.samples import UNTOLD, Sample, add_references, needed, shelve

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
