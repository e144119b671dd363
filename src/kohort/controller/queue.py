"""
The work queue: which key is reconciled next.

A key waits at most once, runs at most once at a time, and is never lost: one that
is added while it runs waits again when it is done. Of two times for the same key
the earlier counts. Events are gathered for a moment before their key is due, so a
burst of them costs one plan; a key whose plan costs much is gathered for longer, so
that what it costs grows with its size and not with the square of it. Keys that are
due run in the order of their times, so a busy key cannot starve the others.

``Schedule`` is the whole of it, in plain arithmetic on the time it is given;
``WorkQueue`` waits by a clock and runs the work.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from random import Random
from typing import Generic, TypeVar

from kohort.controller.clock import Time

K = TypeVar("K", bound=Hashable)
# A key that was to run late and runs early leaves an entry behind until the late moment.
_STALE_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How long keys are gathered, and their backoff after failures."""

    gather_seconds: float = 0.03
    gather_runs: float = 4.0  # or for the time of so many runs of the key, if that is longer
    gather_seconds_max: float = 0.5
    backoff_seconds_first: float = 0.005
    backoff_seconds_max: float = 60.0
    # After a failure even events wait for so long, so a failing key cannot run in a tight loop.
    failure_seconds_min: float = 1.0


class Schedule(Generic[K]):
    """The waiting and running keys, and when each is due."""

    def __init__(self, pace: Pace, chance: Random) -> None:
        self._pace = pace
        self._chance = chance
        self._due: dict[K, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._number = 0
        self._running: dict[K, float | None] = {}  # by key: when to run it again
        self._failures: dict[K, int] = {}
        self._not_before: dict[K, float] = {}
        self._gathering: set[K] = set()  # waiting keys that an event named
        self._costs: dict[K, float] = {}  # seconds of a run by key, where it takes any time

    def add(self, key: K, now: float, after: float | None = None) -> None:
        """Schedule the key: after the gathering time, or after so many seconds."""
        if after is None:
            self._gathering.add(key)
        due = now + (self._gather_seconds(key) if after is None else max(after, 0.0))
        self._want(key, max(due, self._not_before.get(key, due)))

    def take(self, now: float) -> K | None:
        """The key that has been due for longest, if one is; it runs until ``finish``."""
        self._drop_stale()
        if not self._heap or self._heap[0][0] > now:
            return None
        _, _, key = heapq.heappop(self._heap)
        del self._due[key]
        self._running[key] = None
        self._gathering.discard(key)
        return key

    def finish(self, key: K, now: float, *, failed: bool = False) -> None:
        """Note that the key's run ended; after a failure it runs again, with backoff."""
        again = self._running.pop(key)
        if failed:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            backoff = self._backoff(failures)
            self._not_before[key] = now + min(backoff, self._pace.failure_seconds_min)
            self._want(key, now + backoff)
        else:
            self._failures.pop(key, None)
            self._not_before.pop(key, None)
        if again is not None:
            self._want(key, max(again, self._not_before.get(key, again)))

    def note_cost(self, key: K, seconds: float) -> None:
        """Note how long a run of the key takes; zero deletes the entry."""
        if seconds > 0:
            self._costs[key] = seconds
        else:
            self._costs.pop(key, None)

    def next_due(self) -> float | None:
        """When the next key is due; None if no key waits."""
        self._drop_stale()
        return self._heap[0][0] if self._heap else None

    def depth(self, now: float) -> int:
        """How many keys are due and wait."""
        return sum(due <= now for due, _ in self._due.values())

    def oldest_seconds(self, now: float) -> float:
        """For how long the key that is due for longest has waited."""
        due = self.next_due()
        return max(0.0, now - due) if due is not None else 0.0

    @property
    def waiting(self) -> int:
        """How many keys wait, due or not."""
        return len(self._due)

    @property
    def entries(self) -> int:
        """How many entries the heap has, stale ones included."""
        return len(self._heap)

    @property
    def gathering(self) -> int:
        """How many keys wait because something happened, and not for a time."""
        return len(self._gathering)

    @property
    def running(self) -> int:
        """How many keys run."""
        return len(self._running)

    def failures(self, key: K) -> int:
        """How often in a row the key has failed."""
        return self._failures.get(key, 0)

    def _gather_seconds(self, key: K) -> float:
        pace = self._pace
        wanted = max(pace.gather_seconds, self._costs.get(key, 0.0) * pace.gather_runs)
        return min(wanted, pace.gather_seconds_max)

    def _want(self, key: K, due: float) -> None:
        if key in self._running:
            wanted = self._running[key]
            self._running[key] = due if wanted is None else min(wanted, due)
            return
        known = self._due.get(key)
        if known is not None and known[0] <= due:
            return
        self._number += 1
        self._due[key] = (due, self._number)
        heapq.heappush(self._heap, (due, self._number, key))
        if len(self._heap) > 2 * len(self._due) + _STALE_MAX:
            self._heap = [(*when, each) for each, when in self._due.items()]
            heapq.heapify(self._heap)

    def _backoff(self, failures: int) -> float:
        grown = self._pace.backoff_seconds_first * float(2 ** min(failures - 1, 40))
        return min(grown, self._pace.backoff_seconds_max) * self._chance.uniform(0.75, 1.0)

    def _drop_stale(self) -> None:
        """Drop heap entries whose key was rescheduled or has run."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][:2]:
            heapq.heappop(self._heap)


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended: whether it failed, and when to run the key again without an event."""

    failed: bool = False
    again_seconds: float | None = None
    cost_seconds: float | None = None  # time that the plan took; None: no estimate for the next run


class WorkQueue(Generic[K]):
    """Runs the work of due keys, with a limited number of workers."""

    def __init__(self, time: Time, chance: Random, pace: Pace = Pace()) -> None:  # noqa: B008
        self.schedule: Schedule[K] = Schedule(pace, chance)
        self.finished_at: float | None = None
        self.adds = 0  # calls of ``add``
        self._time = time
        self._changed = asyncio.Event()
        self._is_stopping = False

    def add(self, key: K, after: float | None = None) -> None:
        """Schedule the key soon, or after so many seconds."""
        self.adds += 1
        self.schedule.add(key, self._time.elapsed(), after)
        self._changed.set()

    @property
    def depth(self) -> int:
        """How many keys are due and wait."""
        return self.schedule.depth(self._time.elapsed())

    @property
    def oldest_seconds(self) -> float:
        """For how long the key that is due for longest has waited."""
        return self.schedule.oldest_seconds(self._time.elapsed())

    def stop(self) -> None:
        """Start no more runs; those that have begun may end."""
        self._is_stopping = True
        self._changed.set()

    async def run(self, work: Callable[[K], Awaitable[RunResult]], workers: int = 1) -> None:
        """Run the work of each key when it is due, until stopped."""
        async with asyncio.TaskGroup() as group:
            while not self._is_stopping:
                now = self._time.elapsed()
                has_room = self.schedule.running < workers
                key = self.schedule.take(now) if has_room else None
                if key is not None:
                    group.create_task(self._work(key, work))
                    continue
                due = self.schedule.next_due() if has_room else None
                self._changed.clear()
                await self._time.wait(self._changed, None if due is None else max(due - now, 0.0))

    async def _work(self, key: K, work: Callable[[K], Awaitable[RunResult]]) -> None:
        result = await work(key)
        now = self._time.elapsed()
        self.finished_at = now
        self.schedule.finish(key, now, failed=result.failed)
        if result.cost_seconds is not None:
            self.schedule.note_cost(key, result.cost_seconds)
        if result.again_seconds is not None:
            self.schedule.add(key, now, result.again_seconds)
        self._changed.set()
