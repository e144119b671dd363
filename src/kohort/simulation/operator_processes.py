"""
The processes of the operator: started, killed, started again, and electing a leader.

Each start has an empty memory. With one process there is no election; with more, each
works only while it holds the lease, and one that has lost it ends and starts anew,
as in production.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from kohort.apis.api import Key, Snapshot
from kohort.apis.facts import Whole
from kohort.apiserver.api.api import ApiServer
from kohort.cluster.objects import Kind
from kohort.controller.api_controller import ApiController, ControllerContext
from kohort.controller.clock import LoopTime
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.controller.queue import RunResult
from kohort.simulation.faulty_cluster import WORK, WRITER, FaultyCluster, Trouble
from kohort.simulation.simulated_api import OperatorVersion
from kohort.simulation.virtual_loop import START

LEASE_NAMESPACE = "kube-system"
LEASE_NAME = "kohort"
# The time to stop that a process has after SIGTERM in production.
STOP_SECONDS_MAX = 5.0
WAITING_MAX = 1  # there is one workload
LOOKS_MAX = 1_000  # within a minute: a reconcile costs time even if nothing is written
_Work = Callable[[Key], Coroutine[Any, Any, RunResult]]


class OperatorTime(LoopTime):
    """The operator's time: the loop's, with a wall clock that may jump."""

    def __init__(self) -> None:
        self.jump = timedelta()

    def now(self) -> datetime:
        """The wall clock of this process."""
        return START + timedelta(seconds=self.elapsed()) + self.jump


@dataclass(slots=True)
class Surroundings:
    """What all processes of the operator share."""

    api: ApiServer
    trouble: Trouble
    time: OperatorTime
    version: OperatorVersion
    seed: int
    breach: Callable[[str], None]
    views: dict[str, dict[Kind, int]]  # the version of each kind in each process's last reconcile


class OperatorProcess:
    """One process of the operator, over all its starts."""

    def __init__(self, number: int, around: Surroundings, *, elects: bool) -> None:
        self.number = number
        self.starts = 0
        self.election: Election | None = None
        self._around = around
        self._elects = elects
        self._at_work: set[tuple[str, Key]] = set()
        self._looks: deque[float] = deque(maxlen=LOOKS_MAX)  # when the last ones began
        self._plane: FaultyCluster | None = None
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
            cluster = self._plane = FaultyCluster(
                self._around.api, self._around.trouble, self.writer
            )
            WRITER.set(self.writer)
            life = asyncio.ensure_future(self._live(cluster))
            ends = [asyncio.ensure_future(e.wait()) for e in (cluster.crashed, self._told_to_stop)]
            try:
                await asyncio.wait((life, *ends), return_when=asyncio.FIRST_COMPLETED)
                if self._told_to_stop.is_set() and not cluster.crashed.is_set():
                    await self._end(life, cluster)
                if life.done() and not life.cancelled() and life.exception() is not None:
                    self._around.breach(
                        f"O6: the operator failed: {describe_error(life.exception())}"
                    )
            finally:
                tasks = (life, *ends)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(cluster.seconds_down)

    def kill(self, seconds_down: float) -> None:
        """Let the process be gone at once, for so long."""
        if self._plane is not None:
            self._plane.seconds_down = seconds_down
            self._plane.crashed.set()

    async def stop(self, seconds_down: float) -> None:
        """Stop the process as SIGTERM does in production."""
        if self._plane is not None:
            self._plane.seconds_down = seconds_down
            self._told_to_stop.set()

    async def _end(self, life: asyncio.Future[None], cluster: FaultyCluster) -> None:
        """R6: running reconciles may end, no request is cut off, and the lease is given back."""
        operator = self._operator
        if operator is not None and operator.informers.are_ready:
            operator.stop()
            await asyncio.wait([life], timeout=STOP_SECONDS_MAX)
            if life.done() and cluster.asking:
                self._around.breach(f"R6: it stopped in the middle of {cluster.asking} requests")
        life.cancel()
        await asyncio.gather(life, return_exceptions=True)
        if self.election is not None:
            await self.election.release()

    async def _live(self, cluster: FaultyCluster) -> None:
        around = self._around
        chance = Random(f"{around.seed}/{self.writer}")
        if not self._elects:
            await self._operate(cluster, chance, lambda: True)
            return
        self.election = None
        terms = LeaseTerms(LEASE_NAME, LEASE_NAMESPACE, self.writer)
        self.election = election = Election(cluster, terms, around.time, chance)
        await election.acquire()
        work = asyncio.ensure_future(self._operate(cluster, chance, lambda: election.is_held))
        kept = asyncio.ensure_future(election.keep())
        try:
            await asyncio.wait((work, kept), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await work
        finally:
            work.cancel()
            kept.cancel()
            await asyncio.gather(work, kept, return_exceptions=True)

    async def _operate(
        self, cluster: FaultyCluster, chance: Random, may_write: Callable[[], bool]
    ) -> None:
        around = self._around
        version = around.version
        context = ControllerContext(
            cluster, around.time, chance, version.settings, may_write, self.writer
        )
        operator = self._operator = Operator(context, version.apis)
        for controller in operator.controllers:
            controller.work = self._alone(controller)  # type: ignore[assignment, method-assign]
            controller.gather = self._fresh(controller, cluster)  # type: ignore[assignment, method-assign]
        await operator.run()

    def _fresh(
        self, controller: ApiController, cluster: FaultyCluster
    ) -> Callable[[Key, Whole], Snapshot]:
        """R2: no workload is reconciled from caches older than our own last write for it."""
        gather = controller.gather

        def watched(key: Key, root: Whole) -> Snapshot:
            view = {}
            if controller.api.kind == self._around.version.api.kind:
                view = self._around.views.setdefault(self.writer, {})
            view.clear()
            work = controller.api.kind.name, key
            for cache in (controller.roots, *(cache for _, cache in controller.children)):
                kind = cache.selection.kind
                view[kind] = min(cache.version, view.get(kind, cache.version))
                if cache.version < cluster.written.get((work, kind), 0):
                    self._around.breach(f"R2: {kind.name} is older than our own last write")
            return gather(key, root)

        return watched

    def _alone(self, controller: ApiController) -> _Work:
        """
        R1: no key is reconciled twice at a time. R5: no more keys wait than workloads exist.

        R7: a workload is not reconciled in a tight loop.
        """
        work, name = controller.work, controller.api.kind.name
        is_first = controller.api.kind == self._around.version.api.kind

        async def watched(key: Key) -> RunResult:
            task = name, key
            if task in self._at_work:
                self._around.breach(f"R1: {key} is worked on twice at a time")
            if is_first and controller.queue.schedule.waiting > WAITING_MAX:
                self._around.breach(f"R5: {controller.queue.schedule.waiting} keys wait")
            if is_first:
                self._note_look()
            self._at_work.add(task)
            WORK.set(task)
            try:
                return await work(key)
            finally:
                self._at_work.discard(task)

        return watched

    def _note_look(self) -> None:
        now = self._around.time.elapsed()
        if len(self._looks) == LOOKS_MAX and now - self._looks[0] < 60:
            self._around.breach(f"R7: {LOOKS_MAX} looks within a minute")
            self._looks.clear()
        self._looks.append(now)


def describe_error(error: BaseException | None) -> str:
    """The innermost error, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    place = ""
    trace = error.__traceback__ if error else None
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{error!r} at {place}"
