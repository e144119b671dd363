"""
This is where commands read workloads: from the cluster, and planned on the spot.

A command that answers once lists each kind. One that stays watches each kind into caches as the
operator does; it lists first, so that what is missing or forbidden is reported at once and not
tried for ever.
"""

import argparse
import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING

import orjson

from kohort.apis.api import Api, Watched
from kohort.apis.facts import Whole
from kohort.apis.served import APIS
from kohort.cli.exits import Failure
from kohort.cli.parser import suggest
from kohort.cli.state import list_running
from kohort.cli.workloads.arguments import Wanted
from kohort.cli.workloads.descendants import list_owners
from kohort.cli.workloads.facts import complete
from kohort.cluster.errors import (
    ClusterError,
    Forbidden,
    KohortError,
    NotFound,
    TimedOut,
    Unauthorized,
    Unavailable,
)
from kohort.cluster.http import HttpCluster, connect
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address, Selection
from kohort.cluster.server_time import is_far, read_time
from kohort.model.observed import Group, Member
from kohort.views.lineage import Lineage, trace_pod
from kohort.views.members import find_place
from kohort.views.picture import Picture, take_picture
from kohort.views.samples import gather, needed

if TYPE_CHECKING:
    from kohort.controller.caches.cache import Cache
    from kohort.controller.caches.informers import Informers

_CALM_SECONDS = 0.2


class Source:
    """The workloads that were asked for, in one cluster."""

    def __init__(self, cluster: HttpCluster, wanted: Wanted, namespace: str) -> None:
        self.cluster = cluster
        self.wanted = wanted
        self.namespace = namespace  # empty: all

    async def read(self) -> list[Picture]:
        """All of them, as they are now."""
        found = await asyncio.gather(*(self._read_api(api) for api in self.wanted.apis))
        served = [pictures for pictures in found if pictures is not None]
        if not served:
            raise Failure(_describe_unserved(self.wanted.apis))
        pictures = [picture for pictures in served for picture in pictures]
        return await complete(self.cluster, pictures)

    async def read_one(self) -> Picture:
        """The picture of the workload that the user named."""
        found = await self.read()
        if not found:
            for api in self.wanted.apis:
                await self._refuse_child(api, self.wanted.name)
            raise await self._explain_absence()
        return found[0]

    async def _refuse_child(self, api: Api, name: str) -> None:
        """Fail where the object exists but another workload writes it, and name that one."""
        try:
            child = await self.cluster.read(Address(api.kind, self.namespace, name))
        except NotFound:
            return
        owners = await list_owners(self.cluster, child)
        words = {each.kind.name: each.short_name for each in reversed(APIS)}
        known = [
            f"{words[each['kind']]}/{name_of(each)}" for each in owners if each["kind"] in words
        ]
        if known:
            raise Failure(f"{api.short_name}/{name} belongs to {known[-1]}; name that one instead")

    async def _explain_absence(self) -> Failure:
        """The failure of a command whose workload does not exist, with the nearest name."""
        api, name = self.wanted.apis[0], self.wanted.name
        hints = [await self._suggest(each.kind, name) for each in self.wanted.apis]
        where = f" in namespace {self.namespace}" if api.kind.namespaced else ""
        hint = next(filter(None, hints), "")
        return Failure(f"{api.short_name}/{name} does not exist{where}{hint}")

    async def read_root(self) -> Object:
        """The object of the workload that the user named, without its children."""
        for api in self.wanted.apis:
            with suppress(NotFound):
                return await self.cluster.read(Address(api.kind, self.namespace, self.wanted.name))
        raise await self._explain_absence()

    async def find_root(self, api: Api, name: str) -> Object | None:
        """The object of a name, as it is stored; None if there is none."""
        try:
            return await self.cluster.read(Address(api.kind, self.namespace, name))
        except NotFound:
            pass
        try:
            await self.cluster.list(Selection(api.kind, self.namespace, fields="metadata.name=-"))
        except NotFound as error:
            raise Failure(_describe_unserved([api])) from error
        return None

    async def read_changed(self, api: Api, root: Object) -> Picture:
        """A workload with the children that it has, and an object that is not written."""
        children, unserved = await self._list_all_children(api)
        taken = self._take(api, [orjson.dumps(root)], children, unserved)
        if not taken:
            raise Failure(
                f"{api.short_name}/{name_of(root)} belongs to another workload; plan that one"
            )
        return taken[0]

    async def read_pod(self, name: str) -> tuple[Object, Picture, tuple[Group, Member]]:
        """One pod, the workload that it belongs to, and its place there."""
        pod = await self._read_pod(name)
        for picture in await self.read():
            place = find_place(picture, name)
            if place is not None:
                return pod, picture, place
        raise self._foreign(name)

    async def read_lineage(self, name: str) -> Lineage:
        """One pod with all that it belongs to."""
        pod = await self._read_pod(name)
        pictures, owners = await asyncio.gather(self.read(), list_owners(self.cluster, pod))
        found = trace_pod(pod, pictures, owners)
        if found is None:
            raise self._foreign(name)
        return found

    async def _read_pod(self, name: str) -> Object:
        try:
            return await self.cluster.read(Address(POD, self.namespace, name))
        except NotFound:
            hint = await self._suggest(POD, name)
            raise Failure(
                f"pod/{name} does not exist in namespace {self.namespace}{hint}"
            ) from None

    def _foreign(self, pod: str) -> Failure:
        return Failure(
            f"pod/{pod} belongs to no workload that Kohort serves; "
            f"ask 'kubectl describe pod {pod} -n {self.namespace}'"
        )

    async def _suggest(self, kind: Kind, name: str) -> str:
        """The nearest name of an object that exists, in words; nothing if there is none."""
        try:
            listing = await self.cluster.list(Selection(kind, self.namespace))
        except ClusterError:
            return ""  # The user sees the first error, not this one.
        return suggest(name, (name_of(orjson.loads(raw)) for raw in listing.items))

    async def _read_api(self, api: Api) -> list[Picture] | None:
        try:
            roots = (await self.cluster.list(self._select_roots(api))).items
        except NotFound:
            return None
        if not roots:
            return []
        children, unserved = await self._list_all_children(api)
        return self._take(api, roots, children, unserved)

    def now(self) -> datetime:
        """The time of the cluster."""
        return read_time(self.cluster.server_date, datetime.now(UTC))

    def _take(
        self,
        api: Api,
        roots: Iterable[bytes],
        children: dict[Kind, list[bytes]],
        unserved: frozenset[Kind],
    ) -> list[Picture]:
        return _take(api, (roots, children, unserved), self.now())

    async def _list_all_children(self, api: Api) -> tuple[dict[Kind, list[bytes]], frozenset[Kind]]:
        """All that workloads of an API have or name, and the kinds that are not served."""
        lists = await asyncio.gather(*(self._list_children(w) for w in needed(api)))
        kinds = [watched.kind for watched in needed(api)]
        held = dict(zip(kinds, lists, strict=True))
        unserved = frozenset(kind for kind, found in held.items() if found is None)
        children = {kind: found for kind, found in held.items() if found is not None}
        for reference in (each for each in api.references if each.is_shown):
            # A user who may not read shared objects sees the workload without them.
            with suppress(ClusterError):
                named = await self.cluster.list(reference.selection)
                # A workload may own objects of a kind of which it names others.
                own = children.get(reference.kind, [])
                children[reference.kind] = list(dict.fromkeys((*own, *named.items)))
        return children, unserved

    async def _list_children(self, watched: Watched) -> list[bytes] | None:
        """The children of one kind; None where the API does without and it is not served."""
        try:
            listing = await self.cluster.list(self._select(watched))
            return [_name_kind(watched.kind, raw) for raw in listing.items]
        except (NotFound, Forbidden):
            if watched.is_needed:
                raise
            return None

    def _select_roots(self, api: Api) -> Selection:
        fields = f"metadata.name={self.wanted.name}" if self.wanted.name else ""
        labels = ",".join(each for each in (api.selector, self.wanted.labels) if each)
        return Selection(api.kind, self.namespace, labels, fields)

    def _select(self, watched: Watched) -> Selection:
        return Selection(watched.kind, self.namespace, watched.labels)

    async def follow(self) -> AsyncGenerator[list[Picture], None]:
        """All of them now, and again whenever something changed or a second has passed."""
        yield await self.read()
        async with self._watch() as live:
            while True:
                if is_far(self.cluster.server_date, datetime.now(UTC)):
                    await self.cluster.read_document("/version")  # for its date
                yield await complete(self.cluster, live.take(self.now()))
                await live.wait()

    @asynccontextmanager
    async def _watch(self) -> "AsyncIterator[_Live]":
        from kohort.controller.caches.informers import Informers
        from kohort.controller.clock import LoopTime

        informers = Informers(self.cluster, LoopTime(), Random())
        live = _Live(informers)
        for api in self.wanted.apis:
            roots = informers.add(self._select_roots(api), Whole, optional=True)
            kinds = {
                w.kind: informers.add(self._select(w), Whole, optional=not w.is_needed)
                for w in needed(api)
            }
            for named in (each.selection for each in api.references if each.is_shown):
                kinds[named.kind] = informers.add(named, Whole, optional=True)
            live.add(api, roots, kinds)
        task = asyncio.create_task(informers.run())
        try:
            await informers.wait_until_ready()
            yield live
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class _Live:
    """Caches of all kinds, and an event that is set when one of them changes."""

    def __init__(self, informers: "Informers") -> None:
        self._informers = informers
        self._caches: list[tuple[Api, Cache[Whole], dict[Kind, Cache[Whole]]]] = []
        self._bell = asyncio.Event()

    def add(self, api: Api, roots: "Cache[Whole]", children: "dict[Kind, Cache[Whole]]") -> None:
        """Take in one API."""
        self._caches.append((api, roots, children))
        for cache in (roots, *children.values()):
            cache.subscribe(lambda difference: self._bell.set())

    def take(self, now: datetime) -> list[Picture]:
        """All workloads as the caches have them now."""
        self._bell.clear()
        return [
            picture
            for api, roots, children in self._caches
            for picture in _take(
                api,
                (
                    _raws(roots),
                    {kind: list(_raws(cache)) for kind, cache in children.items()},
                    self._find_unserved(children),
                ),
                now,
            )
        ]

    def _find_unserved(self, children: "dict[Kind, Cache[Whole]]") -> frozenset[Kind]:
        absent = self._informers.absent
        return frozenset(kind for kind, cache in children.items() if cache.selection in absent)

    async def wait(self) -> None:
        """Return after a second, or a moment after a change: related changes may still arrive."""
        try:
            async with asyncio.timeout(1.0):
                await self._bell.wait()
        except TimeoutError:
            return
        await asyncio.sleep(_CALM_SECONDS)


def _raws(cache: "Cache[Whole]") -> Iterable[bytes]:
    return (entry.value.raw for entry in cache)


def _name_kind(kind: Kind, raw: bytes) -> bytes:
    """An item of a list with its apiVersion and kind, which servers leave out there."""
    return b'{"apiVersion":"%b","kind":"%b",%b' % (
        kind.api_version.encode(),
        kind.name.encode(),
        raw.lstrip()[1:],
    )


def _take(
    api: Api,
    objects: tuple[Iterable[bytes], dict[Kind, list[bytes]], frozenset[Kind]],
    now: datetime,
) -> list[Picture]:
    """Pictures of workloads, from their objects, their children and the kinds not served."""
    roots, children, unserved = objects
    found = gather(api, roots, children, unserved=unserved)
    return [take_picture(api, sample, now) for sample in found]


def _describe_unserved(apis: Iterable[Api]) -> str:
    names = ", ".join(dict.fromkeys(api.kind.name for api in apis))
    return (
        f"this cluster does not know {names}: install the "
        "definitions with 'kohort crds | kubectl apply --server-side -f -'"
    )


@asynccontextmanager
async def open_source(arguments: argparse.Namespace, wanted: Wanted) -> AsyncIterator[Source]:
    """The cluster and namespace that a command line names."""
    try:
        cluster = connect(arguments.kubeconfig, arguments.context)
    except KohortError as error:
        raise Failure(f"{error}{_hint(arguments)}") from error
    everywhere = getattr(arguments, "all_namespaces", False)
    namespace = "" if everywhere else arguments.namespace or cluster.namespace or "default"
    async with cluster:
        try:
            yield Source(cluster, wanted, namespace)
        except (Unauthorized, Unavailable, TimedOut) as error:
            raise Failure(describe_outage(error, cluster.context, cluster.server)) from error


def describe_outage(error: ClusterError, context: str, server: str) -> str:
    """Why a cluster could not be asked: which one was meant, and what to do."""
    which = f'context "{context}"' if context else "the service account of this pod"
    if isinstance(error, Unauthorized):
        return (
            f"{which}: {server} does not accept the credentials ({error}): log in again or renew "
            "them in the kubeconfig, or choose another cluster with --context"
        )
    return (
        f"{which}: {error}: is the cluster running? Choose another with --context or "
        "--kubeconfig, or start one with 'kohort up'"
    )


def _hint(arguments: argparse.Namespace) -> str:
    """Where a cluster can be had, for those who named none."""
    if arguments.kubeconfig or arguments.context:
        return ""
    running = list_running()
    if not running:
        return "; start one with 'kohort up'"
    if len(running) > 1:
        names = ", ".join(state.name for state in running)
        return f"; these run here: {names}: see 'kohort clusters -o json' for their kubeconfigs"
    path = (running[0].find_control() or {}).get("kubeconfig") or running[0].kubeconfig
    return f"; one runs here: export KUBECONFIG={path}"
