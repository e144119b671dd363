"""
The processes of the operator: started, killed, started again, and electing a leader.

Each start has an empty memory. With one process nobody elects; with more, each
works only while it holds the lease, and one that has lost it ends and starts anew,
as in production.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from kohort.apis.api import Family, Key
from kohort.apis.facts import Whole
from kohort.cluster.objects import Kind
from kohort.controller.desk import Desk, Office
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.controller.queue import Verdict
from kohort.controller.timing import LoopTime
from kohort.rehearsal.eras import Era
from kohort.rehearsal.looping import START
from kohort.rehearsal.plane import WRITER, Plane, Trouble
from kohort.simulator.api.api import Api

LEASE_NAMESPACE = "kube-system"
LEASE_NAME = "kohort"
# As long as a process that is told to stop has in production.
STOP_SECONDS_MAX = 5.0
WAITING_MAX = 1  # there is one workload
_Work = Callable[[Key], Coroutine[Any, Any, Verdict]]


class OperatorTime(LoopTime):
    """The operator's time: the loop's, with a wall clock that may jump."""

    def __init__(self) -> None:
        self.jump = timedelta()

    def now(self) -> datetime:
        """What the wall of this process says."""
        return START + timedelta(seconds=self.elapsed()) + self.jump


@dataclass(slots=True)
class Surroundings:
    """What all processes of the operator share."""

    api: Api
    trouble: Trouble
    time: OperatorTime
    era: Era
    seed: int
    breach: Callable[[str], None]
    views: dict[str, dict[Kind, int]]  # the version of each kind in each process's last look


class Candidate:
    """One process of the operator, over all its starts."""

    def __init__(self, number: int, around: Surroundings, *, elects: bool) -> None:
        self.number = number
        self.starts = 0
        self.election: Election | None = None
        self._around = around
        self._elects = elects
        self._at_work: set[Key] = set()
        self._plane: Plane | None = None
        self._operator: Operator | None = None
        self._told_to_stop = asyncio.Event()

    @property
    def writer(self) -> str:
        """The name of the present start."""
        return f"kohort-{self.number}.{self.starts}"

    async def run(self) -> None:
        """Live, die and come back, for ever."""
        while True:
            self.starts += 1
            self._at_work.clear()
            self._operator = None
            self._told_to_stop.clear()
            plane = self._plane = Plane(self._around.api, self._around.trouble, self.writer)
            WRITER.set(self.writer)
            life = asyncio.ensure_future(self._live(plane))
            ends = [asyncio.ensure_future(e.wait()) for e in (plane.crashed, self._told_to_stop)]
            try:
                await asyncio.wait((life, *ends), return_when=asyncio.FIRST_COMPLETED)
                if self._told_to_stop.is_set() and not plane.crashed.is_set():
                    await self._end(life, plane)
                if life.done() and not life.cancelled() and life.exception() is not None:
                    self._around.breach(f"O6: the operator failed: {tell_error(life.exception())}")
            finally:
                tasks = (life, *ends)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(plane.seconds_down)

    def kill(self, seconds_down: float) -> None:
        """Let the process be gone at once, for so long."""
        if self._plane is not None:
            self._plane.seconds_down = seconds_down
            self._plane.crashed.set()

    async def stop(self, seconds_down: float) -> None:
        """Tell the process to stop, as it is told in production."""
        if self._plane is not None:
            self._plane.seconds_down = seconds_down
            self._told_to_stop.set()

    async def _end(self, life: asyncio.Future[None], plane: Plane) -> None:
        """R6: what runs may end, nothing is cut off in the middle, and the lease is given back."""
        operator = self._operator
        if operator is not None and operator.informers.are_ready:
            operator.stop()
            await asyncio.wait([life], timeout=STOP_SECONDS_MAX)
            if life.done() and plane.asking:
                self._around.breach(f"R6: it stopped in the middle of {plane.asking} requests")
        life.cancel()
        await asyncio.gather(life, return_exceptions=True)
        if self.election is not None:
            await self.election.release()

    async def _live(self, plane: Plane) -> None:
        around = self._around
        chance = Random(f"{around.seed}/{self.writer}")
        if not self._elects:
            await self._operate(plane, chance, lambda: True)
            return
        self.election = None
        terms = LeaseTerms(LEASE_NAME, LEASE_NAMESPACE, self.writer)
        self.election = election = Election(plane, terms, around.time, chance)
        await election.acquire()
        work = asyncio.ensure_future(self._operate(plane, chance, lambda: election.is_held))
        kept = asyncio.ensure_future(election.keep())
        try:
            await asyncio.wait((work, kept), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
        finally:
            work.cancel()
            kept.cancel()
            await asyncio.gather(work, kept, return_exceptions=True)

    async def _operate(self, plane: Plane, chance: Random, may_write: Callable[[], bool]) -> None:
        around = self._around
        era = around.era
        office = Office(plane, around.time, chance, era.settings, may_write, self.writer)
        operator = self._operator = Operator(office, [era.api])
        for desk in operator.desks:
            desk.work = self._alone(desk)  # type: ignore[assignment, method-assign]
            desk.gather = self._fresh(desk, plane)  # type: ignore[assignment, method-assign]
        await operator.run()

    def _fresh(self, desk: Desk, plane: Plane) -> Callable[[Key, Whole], Family]:
        """R2: nothing is looked at on a view that is older than our own last write."""
        gather = desk.gather

        def watched(key: Key, root: Whole) -> Family:
            view = self._around.views.setdefault(self.writer, {})
            view.clear()
            for cache in (desk.roots, *(cache for _, cache in desk.children)):
                kind = cache.selection.kind
                view[kind] = min(cache.version, view.get(kind, cache.version))
                if cache.version < plane.written.get(kind, 0):
                    self._around.breach(f"R2: {kind.name} is older than our own last write")
            return gather(key, root)

        return watched

    def _alone(self, desk: Desk) -> _Work:
        """R1: no key is worked on twice at a time. R5: no more of them wait than there are."""
        work = desk.work

        async def watched(key: Key) -> Verdict:
            if key in self._at_work:
                self._around.breach(f"R1: {key} is worked on twice at a time")
            if desk.queue.schedule.waiting > WAITING_MAX:
                self._around.breach(f"R5: {desk.queue.schedule.waiting} keys wait")
            self._at_work.add(key)
            try:
                return await work(key)
            finally:
                self._at_work.discard(key)

        return watched


def tell_error(error: BaseException | None) -> str:
    """The innermost error, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    place = ""
    trace = error.__traceback__ if error else None
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{error!r} at {place}"
