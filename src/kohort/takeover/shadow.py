"""
The shadow: Kohort's controllers run beside the other one for a while, and write nothing.

Each planned write is reported once, when it is first seen, and once more when it is planned no
longer: then the other controller has done the same, or the cause has gone, and the report names the
last writer of the object. A write that is still planned at the end is a difference that stays.

A plan is described as soon as it is made. What it would change is read from the live object, and
once the other controller has written that, an older plan seems to change something else.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object, metadata_of
from kohort.cluster.port import Address
from kohort.controller.clock import Time
from kohort.takeover.check import Describer, name_workload
from kohort.takeover.observer import Finding, Observer
from kohort.takeover.report import SOON_SECONDS, PlannedWrite, Sightings

_TICK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """The result of a shadow run."""

    workloads: int
    seen: int  # planned writes, each counted once
    stayed: tuple[PlannedWrite, ...]
    faults: tuple[str, ...] = ()  # workloads that cannot be planned


@dataclass(frozen=True, slots=True)
class ShadowListener:
    """The listener for differences as they appear and disappear."""

    on_new: Callable[[PlannedWrite], None]
    on_gone: Callable[[PlannedWrite, str], None]  # with a sentence about the last writer


class Shadow:
    """One run beside another controller."""

    def __init__(self, observer: Observer, time: Time, listener: ShadowListener) -> None:
        self._observer = observer
        self._time = time
        self._listener = listener
        self._sightings = Sightings()
        self._findings: deque[Finding] = deque()
        self._has_findings = asyncio.Event()
        observer.listen = self._add

    async def run(self, seconds: float, find_stop: Callable[[], asyncio.Event]) -> ShadowReport:
        """Run for so long, or until the event is set that ``find_stop`` returns."""
        async with self._observer.running(plans=True):
            stop, end = find_stop(), self._time.elapsed() + seconds
            while not stop.is_set() and self._time.elapsed() < end:
                left = end - self._time.elapsed()
                await self._note_until(stop, min(_TICK_SECONDS, left))
                self._wake()
            self._observer.operator.stop()
            await self._note_until(asyncio.Event(), SOON_SECONDS + 0.1)
            for finding in [f for f in self._observer.findings.values() if f.actions]:
                await self._observer.reconcile(finding)
            await self._note_all()
        found = self._observer.findings.values()
        faults = tuple(f"{name_workload(f)}: {f.fault}" for f in found if f.fault)
        stayed = tuple(self._sightings.opened.values())
        return ShadowReport(len(found), self._sightings.total, stayed, faults)

    def _add(self, finding: Finding) -> None:
        self._findings.append(finding)
        self._has_findings.set()

    async def _note_until(self, stop: asyncio.Event, seconds: float) -> None:
        """Note each finding as it comes, for so long or until the event is set."""
        ended = asyncio.ensure_future(self._time.wait(stop, seconds))
        found = asyncio.ensure_future(self._has_findings.wait())
        try:
            while not ended.done():
                await asyncio.wait((ended, found), return_when=asyncio.FIRST_COMPLETED)
                await self._note_all()
                if found.done():
                    found = asyncio.ensure_future(self._has_findings.wait())
        finally:
            ended.cancel()
            found.cancel()

    def _wake(self) -> None:
        """Plan workloads with open differences again: their cause may have ended silently."""
        opened = {write.workload for write in self._sightings.opened.values()}
        for finding in self._observer.findings.values():
            if name_workload(finding) in opened:
                self._observer.wake(finding)

    async def _note_all(self) -> None:
        described = Describer(self._observer)
        while self._findings:
            finding = self._findings.popleft()
            if finding.is_gone:
                for write in self._sightings.drop(name_workload(finding)):
                    self._listener.on_gone(write, f"{write.workload} was deleted")
                continue
            writes = await described.describe(finding)
            new, gone = self._sightings.note(name_workload(finding), writes, self._time.elapsed())
            for write in new:
                self._listener.on_new(write)
            for write in gone:
                self._listener.on_gone(write, await self._find_writer(finding, write))
        self._has_findings.clear()

    async def _find_writer(self, finding: Finding, write: PlannedWrite) -> str:
        kinds = {watched.kind.name: watched.kind for watched in finding.api.watched}
        kind = kinds.get(write.kind, finding.api.kind)
        try:
            live = await self._observer.cluster.read(Address(kind, write.namespace, write.name))
        except KohortError:
            return f"{write.object} is not there"
        return name_last_manager(live)


def name_last_manager(obj: Object) -> str:
    """The last writer of an object and its time, from managedFields."""
    entries = metadata_of(obj).get("managedFields") or []
    last = max(entries, key=lambda entry: str(entry.get("time", "")), default=None)
    if last is None:
        return "its last writer is not recorded"
    manager, time = last.get("manager", "an unknown client"), last.get("time", "an unknown time")
    return f"{manager} wrote it last, at {time}"
