"""
The controller of one API, with its caches, its work queue and its memory of each workload.

A change of a child puts the keys of its workloads on the queue, which gathers the changes of
one key for a moment. The controller reconciles a key on one snapshot of all caches, and
only when the caches have seen the operator's last writes for that key.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from kohort.apis.api import DEFAULTS, Api, Key, Settings, Snapshot, Watched
from kohort.apis.facts import UNDECODABLE, Whole
from kohort.apis.losses import Remaining
from kohort.apis.nodes import Nodes
from kohort.apis.references import Reference
from kohort.cluster.errors import NotFound
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Cluster, Selection
from kohort.controller.admission.probe import AdmissionProber
from kohort.controller.blocked_condition import HealthReporter
from kohort.controller.caches.cache import Cache, Difference
from kohort.controller.caches.deleted_children import DeletedChildren
from kohort.controller.caches.informers import Informers
from kohort.controller.caches.losses import Losses
from kohort.controller.caches.tiers import TierBook
from kohort.controller.caches.watermarks import Watermarks
from kohort.controller.clock import Time
from kohort.controller.events import EventSink
from kohort.controller.execute import Executor
from kohort.controller.queue import RunResult, WorkQueue
from kohort.controller.reconcile import Memory, Reconciler, ReconcileResult

CATCH_UP_SECONDS = 0.5
WORKERS = 16
_OWNER = "owner"
_REFERENCE = "reference"
_NAMED = "named"

Recorder = Callable[[Key, ReconcileResult, float], None]


@dataclass(frozen=True, slots=True)
class ControllerContext:
    """The cluster client, clock and settings that all API controllers of a process share."""

    cluster: Cluster
    time: Time
    chance: Random
    settings: Settings = DEFAULTS
    may_write: Callable[[], bool] = lambda: True  # false as soon as the lease is lost
    identity: str = "kohort"
    # Makes the executor of an API in place of the one that sends requests.
    make_executor: Callable[[Api], Executor] | None = None


@dataclass(frozen=True, slots=True)
class _KeyIndex:
    """Index of objects by keys that name workloads; equal for equal functions, so it is shared."""

    keys_of: Callable[[Any], tuple[Key, ...]]

    def __call__(self, obj: Any) -> Iterable[str]:
        return ["/".join(key) for key in self.keys_of(obj)]


def _name_reference(reference: Reference, name: Key) -> str:
    return "/".join((reference.kind.group_resource, *name))


def _find_names(reference: Reference, difference: Difference[Any]) -> Iterable[Key]:
    """The names by which workloads refer to an object that has changed."""
    if reference.names_of is None:
        return (difference.key,)
    values = [side.value for side in (difference.old, difference.new) if side is not None]
    return dict.fromkeys(name for value in values for name in reference.names_of(value))


def _find_named(reference: Reference, cache: Cache[Any], names: Iterable[Key]) -> Iterable[Any]:
    if reference.names_of is not None:
        return (obj for name in names for obj in cache.select(_NAMED, "/".join(name)))
    return (obj for name in names if (obj := cache.find(name)) is not None)


def _raise(key: Key, error: Exception) -> None:
    raise error


class ApiController:
    """Watches and reconciles the workloads of one API."""

    def __init__(self, api: Api, informers: Informers, context: ControllerContext) -> None:
        self.api = api
        self.settings = context.settings
        self.queue: WorkQueue[Key] = WorkQueue(context.time, context.chance)
        self.watermarks = Watermarks()
        self.executor = self._make_executor(context)
        reporter = api.home.reporter
        self.events = EventSink(context.cluster, reporter, context.identity, context.may_write)
        self.record: Recorder = lambda key, result, seconds: None
        self.on_fault: Callable[[Key, Exception], None] = _raise
        self.on_gone: Callable[[Key], None] = lambda key: None
        self._may_write = context.may_write
        self._time = context.time
        prober = AdmissionProber(api, context.cluster)
        judge = HealthReporter(api, context.cluster)
        self._reconciler = Reconciler(
            api, self.executor, self.events, prober, judge, context.time.elapsed
        )
        self._memories: dict[Key, Memory] = {}
        self.losses = Losses()
        self._deleted = DeletedChildren()
        self._nodes: Nodes | None = None  # None: rebuild from the caches
        self.informers = informers
        indexes = {_REFERENCE: self._list_references} if api.references else None
        self.roots: Cache[Whole] = informers.add(
            Selection(api.kind, labels=api.selector), Whole, indexes
        )
        self.references = [(each, self._add_reference(informers, each)) for each in api.references]
        self.children: list[tuple[Watched, Cache[Any]]] = [
            (watched, self._add(informers, watched))
            for watched in api.watched_with(context.settings)
        ]
        self.tiers = TierBook(api, context.settings, informers, self._wake_packed)
        self._follow()

    def _make_executor(self, context: ControllerContext) -> Executor:
        if context.make_executor is not None:
            return context.make_executor(self.api)
        return Executor(
            context.cluster, self.watermarks, context.may_write, elapsed=context.time.elapsed
        )

    def _wake_packed(self) -> None:
        """Queue all workloads whose placement depends on the tiers of the cluster."""
        for entry in self.roots:
            if self.api.heeds_tiers(entry.value):
                self.queue.add(entry.key)

    def _add(self, informers: Informers, watched: Watched) -> Cache[Any]:
        selection = Selection(watched.kind, labels=watched.labels)
        optional = bool(watched.remedy)
        return informers.add(
            selection,
            watched.decode,
            {_OWNER: _KeyIndex(watched.owners)},
            optional=optional,
            on_served=self._wake_all,
        )

    def _wake_all(self) -> None:
        """Queue all workloads, since the API server now serves an optional kind."""
        for entry in self.roots:
            self.queue.add(entry.key)

    def _add_reference(self, informers: Informers, reference: Reference) -> Cache[Any]:
        optional, names_of = bool(reference.remedy), reference.names_of
        indexes = {_NAMED: _KeyIndex(names_of)} if names_of else None
        return informers.add(reference.selection, reference.decode, indexes, optional=optional)

    def _list_references(self, root: Whole) -> Iterable[str]:
        """All objects that a workload refers to; none if the workload cannot be decoded."""
        try:
            obj = root.decode()
            return [
                _name_reference(reference, name)
                for reference in self.api.references
                for name in reference.find_names(obj)
            ]
        except UNDECODABLE:
            return []

    def _wake_referrers(self, reference: Reference) -> Callable[[Difference[Any]], None]:
        def listen(difference: Difference[Any]) -> None:
            old, new = difference.old, difference.new
            if old is not None and new is not None and reference.is_same(old.value, new.value):
                return
            for name in _find_names(reference, difference):
                for root in self.roots.select(_REFERENCE, _name_reference(reference, name)):
                    self.queue.add((root.metadata.namespace, root.metadata.name))

        return listen

    def _find_references(self, root: Object) -> Mapping[Kind, tuple[Any, ...]]:
        """The objects that a workload refers to, as far as they are in the caches."""
        found: dict[Kind, tuple[Any, ...]] = {}
        for reference, cache in self.references:
            try:
                names = reference.find_names(root)
                found[reference.kind] = tuple(_find_named(reference, cache, names))
            except UNDECODABLE:
                found[reference.kind] = ()
        return found

    def _follow(self) -> None:
        for reference, named in self.references:
            named.subscribe(self._wake_referrers(reference))
        self.watermarks.add(self.roots)
        self.roots.subscribe(lambda difference: self.queue.add(difference.key))
        for watched, cache in self.children:
            self.watermarks.add(cache)
            cache.subscribe(self._listener(watched))
        for cache in self._list_node_caches():
            cache.subscribe(self._forget_nodes)

    def _listener(self, watched: Watched) -> Callable[[Difference[Any]], None]:
        def listen(difference: Difference[Any]) -> None:
            for entry in (difference.old, difference.new):
                if entry is not None:
                    for key in watched.owners(entry.value):
                        # A workload that is not there yet is queued when it comes.
                        if self.roots.find_entry(key) is not None:
                            self.queue.add(key)
                            if watched.is_remembered:
                                self._deleted.note(watched.kind, key, difference)
            self._note_departure(watched.kind, difference)
            if watched.kind == self.api.members and difference.old is not None:
                self._note_loss(watched, difference)

        return listen

    def _note_departure(self, kind: Kind, difference: Difference[Any]) -> None:
        old, new = difference.old, difference.new
        if old is not None and (new is None or new.uid != old.uid):
            owner = old.value.metadata.owner
            self.executor.departures.note_gone(Address(kind, *old.key), old.uid, owner)

    def _note_loss(self, watched: Watched, difference: Difference[Any]) -> None:
        """Note a pod that was deleted, or replaced under its name, as lost by its incarnation."""
        old, new = difference.old, difference.new
        if old is None or (new is not None and new.uid == old.uid):
            return
        found = self.api.find_lost(old.value, Remaining(self._find, self._list_members))
        if found is not None:
            self.losses.note(found, old.key[1])
        for key in watched.owners(old.value):
            self.losses.end(key, old.uid)

    def _find(self, kind: Kind, name: Key) -> Any:
        for watched, cache in self.children:
            if watched.kind == kind and (found := cache.find(name)) is not None:
                return found
        return None

    async def run(self) -> None:
        """Reconcile workloads as they change, until stopped."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.events.run())
            await self.queue.run(self.work, WORKERS)
            self.events.stop()

    async def work(self, key: Key) -> RunResult:
        """Reconcile one workload; a bug that it triggers must not stop the others."""
        if not self._may_write():
            return RunResult(again_seconds=CATCH_UP_SECONDS)
        try:
            return await self._work(key)
        except Exception as error:
            self.on_fault(key, error)
            return RunResult(failed=True)

    async def _work(self, key: Key) -> RunResult:
        if not self.watermarks.is_caught_up(key):
            return RunResult(again_seconds=CATCH_UP_SECONDS)
        root = self.roots.find(key)
        if root is None:
            self._forget(key)
            return RunResult(cost_seconds=0.0)
        if not self.informers.knows_all(self.api.find_shared(root.raw)):
            return RunResult(again_seconds=CATCH_UP_SECONDS)
        begun = self._time.elapsed()
        snapshot = self.gather(key, root)
        if not self.api.is_workload(snapshot.root):
            self._forget(key)
            return RunResult(cost_seconds=0.0)
        memory = self._memories[key]
        result = await self._reconciler.reconcile(snapshot, memory, self._time.now(), begun)
        if not result.is_failed:
            self.losses.forget_passing(key, snapshot.lost)
        self.record(key, result, self._time.elapsed() - begun)
        return RunResult(result.is_failed, result.recheck_seconds, memory.planning_seconds)

    def gather(self, key: Key, root: Whole) -> Snapshot:
        """A snapshot of the workload and its children from all caches."""
        owner = "/".join(key)
        children: dict[Kind, tuple[Any, ...]] = {}
        for watched, cache in self.children:
            found = tuple(cache.select(_OWNER, owner))
            children[watched.kind] = (*children.get(watched.kind, ()), *found)
        memory = self._memories.setdefault(key, Memory())
        readable, stray = self.api.find_stray(root.decode())
        return Snapshot(
            root=readable,
            children=children,
            nodes=self._read_nodes(),
            lost=self.losses.list_of(key, children.get(self.api.members, ())),
            dropped=memory.dropped,
            settings=self.settings,
            absent=self._find_absent(),
            unserved=self._find_unserved(),
            group_cache=memory.group_cache,
            tiers=self.tiers.read(),
            tier_objects=self.tiers.list_objects(),
            pruned=dict(memory.pruned),
            stray=stray,
            put_backs=memory.find_put_backs(self._time.elapsed()),
            refused=memory.refusals.list_deletes(self._time.elapsed()),
            references=self._find_references(readable),
            deleted=self._deleted.list_of(key),
            beside={k: self.informers.list_all(k) for k in self.api.find_shared(root.raw)},
        )

    def _find_absent(self) -> Mapping[Kind, str]:
        """The needed kinds that the operator cannot watch, each with a sentence for the user."""
        found: dict[Kind, str] = {}
        for watched, cache in self.children:
            why = self._explain_absence(cache)
            if why and watched.is_needed:
                kind = watched.kind
                found[kind] = f"no {kind.name} of {kind.group} is made: {why}; {watched.remedy}"
        for reference, cache in self.references:
            why = self._explain_absence(cache)
            # No workload names this kind itself, so it may stay hidden from the operator.
            if why and reference.is_shown:
                kind = reference.kind
                found[kind] = f"no {kind.name} of {kind.group} is read: {why}; {reference.remedy}"
        return found

    def _explain_absence(self, cache: Cache[Any]) -> str:
        error = self.informers.absent.get(cache.selection)
        if error is None:
            return ""
        return "the cluster does not serve it" if isinstance(error, NotFound) else str(error)

    def _find_unserved(self) -> frozenset[Kind]:
        """The optional kinds that the operator cannot watch now."""
        absent = self.informers.absent
        return frozenset(
            watched.kind
            for watched, cache in self.children
            if not watched.is_needed and cache.selection in absent
        )

    def _list_members(self, key: Key) -> list[Any]:
        """The cached members of a workload."""
        caches = [cache for watched, cache in self.children if watched.kind == self.api.members]
        return [member for cache in caches for member in cache.select(_OWNER, "/".join(key))]

    def _read_nodes(self) -> Nodes:
        """All cached nodes; the same value until a node changes."""
        if self._nodes is None:
            caches = self._list_node_caches()
            self._nodes = Nodes({e.key[1]: e.value for cache in caches for e in cache})
        return self._nodes

    def _list_node_caches(self) -> list[Cache[Any]]:
        """The caches of nodes, which an API watches itself or by reference from workloads."""
        watched = ((each.kind, cache) for each, cache in self.children)
        named = ((each.kind, cache) for each, cache in self.references)
        return [cache for kind, cache in (*watched, *named) if kind.name == "Node"]

    def _forget_nodes(self, difference: Difference[Any]) -> None:
        self._nodes = None

    def _forget(self, key: Key) -> None:
        self._memories.pop(key, None)
        self._deleted.forget(key)
        self.losses.forget(key, self._list_members(key))
        self.watermarks.forget(key)
        self.on_gone(key)
