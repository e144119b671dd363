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

from kohort.apis.api import Key, Settings
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.controller.desk import Office
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.controller.queue import Verdict
from kohort.controller.timing import LoopTime
from kohort.rehearsal.looping import START
from kohort.rehearsal.plane import WRITER, Plane, Trouble
from kohort.simulator.api.api import Api

LEASE_NAMESPACE = "kube-system"
LEASE_NAME = "kohort"
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
    settings: Settings
    seed: int
    breach: Callable[[str], None]


class Candidate:
    """One process of the operator, over all its starts."""

    def __init__(self, number: int, around: Surroundings, *, elects: bool) -> None:
        self.number = number
        self.starts = 0
        self.election: Election | None = None
        self._around = around
        self._elects = elects
        self._at_work: set[Key] = set()

    @property
    def writer(self) -> str:
        """The name of the present start."""
        return f"kohort-{self.number}.{self.starts}"

    async def run(self) -> None:
        """Live, die and come back, for ever."""
        while True:
            self.starts += 1
            self._at_work.clear()
            plane = Plane(self._around.api, self._around.trouble, self.writer)
            WRITER.set(self.writer)
            life = asyncio.ensure_future(self._live(plane))
            killed = asyncio.ensure_future(plane.crashed.wait())
            try:
                await asyncio.wait((life, killed), return_when=asyncio.FIRST_COMPLETED)
                if life.done() and life.exception() is not None:
                    self._around.breach(f"O6: the operator failed: {_tell(life.exception())}")
            finally:
                life.cancel()
                killed.cancel()
                await asyncio.gather(life, killed, return_exceptions=True)
            await asyncio.sleep(plane.seconds_down)

    async def _live(self, plane: Plane) -> None:
        around = self._around
        chance = Random(f"{around.seed}/{self.writer}")
        if not self._elects:
            await self._operate(plane, chance, lambda: True)
            return
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
        office = Office(plane, around.time, chance, around.settings, may_write, self.writer)
        operator = Operator(office, [LEADER_WORKER_SET])
        for desk in operator.desks:
            desk.work = self._alone(desk.work)  # type: ignore[assignment, method-assign]
        await operator.run()

    def _alone(self, work: _Work) -> _Work:
        """R1: no key is worked on twice at a time."""

        async def watched(key: Key) -> Verdict:
            if key in self._at_work:
                self._around.breach(f"R1: {key} is worked on twice at a time")
            self._at_work.add(key)
            try:
                return await work(key)
            finally:
                self._at_work.discard(key)

        return watched


def _tell(error: BaseException | None) -> str:
    """The innermost error, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    place = ""
    trace = error.__traceback__ if error else None
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{error!r} at {place}"
