"""
The state of the dashboard: a picture of each workload, kept up to date by watches.

Only workloads that changed are read and planned again, and those that wait, since time alone may
change the verdict on them. Work is done in slices, so that requests are answered in between. Until
the first lists are complete, pages get the names of workloads and how much is read; rows are sent
as they are made, since a large cluster takes seconds.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from kohort.apis.api import Api, Key
from kohort.apis.served import APIS
from kohort.cluster.errors import Forbidden, KohortError
from kohort.cluster.port import Cluster, Selection
from kohort.controller.caches.informers import Informers, Reports
from kohort.controller.caches.watcher import Event
from kohort.controller.clock import LoopTime, Time
from kohort.dashboard.caches import ApiWatch, ClusterWatch
from kohort.dashboard.feed import Feed
from kohort.dashboard.recorder import WorkloadRecord
from kohort.views.health import Word
from kohort.views.picture import Picture, take_picture
from kohort.views.plain import to_plain
from kohort.views.residents import Resident
from kohort.views.table import Row, make_row

CALM_SECONDS = 0.2
AGAIN_SECONDS = 2.0  # how often a waiting workload is judged again
_SLICE_SECONDS = 0.03
_TROUBLE_SECONDS = 40.0
_NOWHERE = "_"  # stands for the namespace of a kind without namespaces


@dataclass(frozen=True, slots=True)
class WorkloadId:
    """The identity of a workload: resource with group, as in ``-o name``, namespace and name."""

    resource: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.resource}/{self.namespace or _NOWHERE}/{self.name}"


@dataclass(slots=True)
class WorkloadState:
    """The last seen state of one workload."""

    picture: Picture
    row: Row
    record: WorkloadRecord
    seen: float  # in seconds of the loop's clock
    residents: tuple[Resident, ...] | None = None  # its pods; None: not listed yet

    @property
    def may_change_by_time(self) -> bool:
        """Whether time alone may change the verdict."""
        return self.row.health.word is not Word.READY


@dataclass(frozen=True, slots=True)
class ExpectedWorkload:
    """A workload that exists and is not read yet."""

    resource: str
    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Reading:
    """How much of the cluster is read."""

    listed: int  # first lists that are complete
    lists: int
    is_complete: bool
    expected: tuple[ExpectedWorkload, ...] = ()


class _Troubles(Reports):
    """The last error of each watch, and when it was reported."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._errors: dict[Selection, tuple[float, KohortError]] = {}

    def trouble(self, selection: Selection, error: KohortError) -> None:
        """Note that a list or a watch failed."""
        self._errors[selection] = (self._time.elapsed(), error)

    def forget(self, selection: Selection) -> None:
        """Note that a watch works."""
        self._errors.pop(selection, None)

    def list(self) -> list[tuple[Selection, KohortError]]:
        """The watches that fail: each tries again within half a minute, and reports it."""
        oldest = self._time.elapsed() - _TROUBLE_SECONDS
        return [(s, error) for s, (at, error) in self._errors.items() if at > oldest]


class _Informers(Informers):
    """Informers that notice when a watch works again."""

    def take(self, selection: Selection, event: Event, *, is_back: bool) -> None:
        """Note an event that a cache has applied."""
        super().take(selection, event, is_back=is_back)
        assert isinstance(self.reports, _Troubles)
        self.reports.forget(selection)


class State:
    """The pictures of all workloads of a cluster."""

    def __init__(
        self,
        cluster: Cluster,
        namespace: str = "",
        apis: Sequence[Api] = APIS,
        time: Time | None = None,
    ) -> None:
        self.cluster = cluster
        self.feed = Feed()
        self.workloads: dict[WorkloadId, WorkloadState] = {}
        self._time = time or LoopTime()
        self._troubles = _Troubles(self._time)
        self._stale: dict[WorkloadId, tuple[ApiWatch, Key]] = {}
        self._bell = asyncio.Event()
        self.is_ready = asyncio.Event()
        self._informers = _Informers(cluster, self._time, Random(), self._troubles)
        self.watches = [ApiWatch(a, self._informers, namespace, self._mark_stale) for a in apis]
        homes = [api.home for api in apis]
        self.cluster_watch = ClusterWatch(self._informers, namespace, homes, self._bell.set)
        self._map_told = 0
        self._told_problems: list[str] = []
        self._told_reading: tuple[Reading, list[str]] | None = None

    @property
    def short_names(self) -> dict[str, str]:
        """The short name of each kind, by its name in small letters; the first API of it wins."""
        apis = (watch.api for watch in reversed(self.watches))
        return {api.kind.name.lower(): api.short_name for api in apis}

    def _mark_stale(self, watch: ApiWatch, key: Key) -> None:
        self._stale[name_workload(watch.api, key)] = (watch, key)
        self._bell.set()

    async def run(self) -> None:
        """Watch, and publish what changes, until cancelled."""
        watching = asyncio.create_task(self._informers.run())
        try:
            await self._wait_for_lists(watching)
            await self._refresh()
            self.is_ready.set()
            self._tell_reading()
            while not watching.done():
                await self._time.wait(self._bell, AGAIN_SECONDS / 2)
                if self._bell.is_set():
                    # Wait a moment, so that related changes are handled together.
                    await self._time.sleep(CALM_SECONDS)
                await self._refresh()
            watching.result()
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(watching, return_exceptions=True)
            self.feed.close()

    async def _wait_for_lists(self, watching: asyncio.Task[None]) -> None:
        """Return when all first lists are complete; raise what ends the watches before that."""
        listed = asyncio.create_task(self._informers.wait_until_ready())
        while not (listed.done() or watching.done()):
            self._tell_reading()
            either = (listed, watching)
            await asyncio.wait(either, timeout=CALM_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not listed.done():
            listed.cancel()
            watching.result()

    def read_progress(self) -> Reading:
        """How much of the cluster is read, and the workloads that are not."""
        lists = len(self._informers.caches)
        is_complete = self.is_ready.is_set()
        unread = [] if is_complete else [w for w in self._stale if w not in self.workloads]
        return Reading(
            listed=lists - len(self._informers.unlisted),
            lists=lists,
            is_complete=is_complete,
            expected=tuple(_expect(self._stale[workload][0].api, workload) for workload in unread),
        )

    def _tell_reading(self) -> None:
        reading, problems = self.read_progress(), self.list_problems()
        if (reading, problems) != self._told_reading:
            self._told_reading = (reading, problems)
            self.feed.publish("reading", {**to_plain(reading), "problems": problems})

    async def _refresh(self) -> None:
        """Make pictures of changed workloads, and publish the rows that differ."""
        self._bell.clear()
        stale, self._stale = self._stale, {}
        touched = [str(found) for found in stale]
        stale.update(self._find_waiting(stale))
        changed: list[object] = []
        gone: list[str] = []
        begun = self._time.elapsed()
        for workload, (watch, key) in stale.items():
            if self._time.elapsed() - begun > _SLICE_SECONDS:
                if not self.is_ready.is_set():
                    self._publish(changed, gone, [])
                    changed, gone = [], []
                await asyncio.sleep(0)
                begun = self._time.elapsed()
            before = self.workloads.get(workload)
            after = self._take(watch, key, workload)
            if after is None and before is not None:
                gone.append(str(workload))
            elif after is not None and (before is None or before.row != after.row):
                changed.append(to_plain(after.row))
        self._publish(changed, gone, touched)

    def _publish(self, changed: list[object], gone: list[str], touched: list[str]) -> None:
        map_version = self.cluster_watch.map_version
        problems = self.list_problems()
        is_moved, self._map_told = map_version != self._map_told, map_version
        is_other, self._told_problems = problems != self._told_problems, problems
        if not (changed or gone or touched or is_moved or is_other):
            return
        self.feed.publish(
            "change",
            {
                "rows": changed,
                "gone": gone,
                "touched": touched,
                "isMapChanged": is_moved,
                "problems": problems,
            },
        )

    def _find_waiting(
        self, stale: dict[WorkloadId, tuple[ApiWatch, Key]]
    ) -> dict[WorkloadId, tuple[ApiWatch, Key]]:
        """The workloads whose verdict time alone may have changed."""
        due = self._time.elapsed() - AGAIN_SECONDS
        watches = {id(watch.api): watch for watch in self.watches}
        return {
            workload: (watches[id(held.picture.api)], (workload.namespace, workload.name))
            for workload, held in self.workloads.items()
            if held.may_change_by_time and held.seen < due and workload not in stale
        }

    def _take(self, watch: ApiWatch, key: Key, workload: WorkloadId) -> WorkloadState | None:
        sample = watch.find_sample(key)
        if sample is None:
            self.workloads.pop(workload, None)
            return None
        facts = self.cluster_watch.read_facts(watch.api.home)
        picture = take_picture(watch.api, sample, self._time.now(), facts)
        before = self.workloads.get(workload)
        record = before.record if before else WorkloadRecord()
        record.note(picture)
        made = WorkloadState(picture, make_row(picture), record, self._time.elapsed())
        self.workloads[workload] = made
        return made

    def list_problems(self) -> list[str]:
        """What the dashboard cannot see, and why, one sentence for each; workloads come first."""
        return list(dict.fromkeys(self._list_problems()))

    def _list_problems(self) -> Iterator[str]:
        roots = {watch.roots.selection for watch in self.watches}
        refused = self._informers.absent.items()
        for selection, error in sorted(refused, key=lambda each: each[0] not in roots):
            if isinstance(error, Forbidden):
                yield f"{selection.kind.group_resource} cannot be shown: {error}"
        for selection, error in self._troubles.list():
            if selection not in self._informers.absent:
                yield f"{selection.kind.group_resource} cannot be watched: {error}"


def _expect(api: Api, workload: WorkloadId) -> ExpectedWorkload:
    return ExpectedWorkload(workload.resource, api.kind.name, workload.namespace, workload.name)


def name_workload(api: Api, key: Key) -> WorkloadId:
    """The id of a workload."""
    return WorkloadId(f"{api.kind.name.lower()}.{api.kind.group}", *key)
