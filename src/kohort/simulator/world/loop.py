"""
The world: the parts of a control plane around one API, and the order in which they act.

In a running cluster time passes by itself: ``run`` works in short slices, which may
end between any two actions, and lets the event loop serve requests in between. In a
simulation nobody waits: ``settle`` works until nothing is left to do now, and
``advance`` moves a virtual clock from timer to timer. Both use the same turn, and
within a turn parts act in the order in which they were given, so a simulation repeats
itself exactly.

A part works through the keys that it had when its turn came. So what a hundred pods
do in one turn is looked at once by the set that owns them, and not a hundred times.
"""

import asyncio
from collections.abc import Callable, Sequence

from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind
from kohort.simulator.api.api import Api
from kohort.simulator.clock import Clock, VirtualClock, WallClock
from kohort.simulator.steps import Action, Emit, Moment, Part, Step
from kohort.simulator.world.executing import execute, options_of, suspends
from kohort.simulator.world.recording import Recorder
from kohort.simulator.world.seats import Seat

SLICE_SECONDS = 0.004
KEYS_PER_TURN_MAX = 64
EVENTS_PER_SLICE_MAX = 100
# After a slice, requests get so many turns of the event loop: one to be read and carried
# out, one to tell watchers, one to be answered. Nobody is answered later for the next slice.
TURNS_FOR_OTHERS = 4
SECONDS_FOR_OTHERS_MAX = 0.002
SLEEP_SECONDS_MAX = 3600.0
TURNS_MAX = 1_000_000


class World:
    """All parts, in their seats."""

    def __init__(
        self, api: Api, parts: Sequence[Part], clock: Clock, *, records: bool = True
    ) -> None:
        self.api = api
        self.clock = clock
        self.seats = [Seat(part, api, self.wake) for part in parts]
        # A simulation that nobody watches has no use for events.
        self._recorder = Recorder(api) if records else None
        self._alarm: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._slice_end = float("inf")
        self.on_fault: Callable[[str, str, Exception], None] = _raise
        self._watch()
        api.registry.listeners.append(self._watch)

    def wake(self) -> None:
        """Something happened: whoever sleeps in ``run`` looks again."""
        if self._alarm is not None:
            self._alarm.set()

    def _watch(self) -> None:
        """Parts that look at every kind learn of new ones."""
        kinds = [r.kind for r in self.api.registry.storage_kinds() if "list" in r.verbs]
        for seat in self.seats:
            learn: Callable[[Sequence[Kind]], None] | None = getattr(seat.part, "watch_kinds", None)
            if learn is not None:
                learn(kinds)
            seat.watch(seat.part.kinds)

    def moment(self) -> Moment:
        """Now."""
        return Moment(self.clock.now(), self.clock.elapsed())

    async def turn(self) -> bool:
        """Let each part look at its keys. Returns whether anybody did something."""
        self.api.store.flush()
        worked = False
        for seat in self.seats:
            if seat.is_awaited:
                await self._deliver(seat)
            for _ in range(min(seat.count_due(self.clock.elapsed()), KEYS_PER_TURN_MAX)):
                key = seat.take(self.clock.elapsed())
                if key is None:
                    break
                worked = True
                await self._look(seat, key)
                await self._breathe()
                if seat.is_awaited:
                    await self._deliver(seat)
        return worked

    async def _deliver(self, seat: Seat) -> None:
        while self._deliver_some(seat):
            await self._breathe()

    def _deliver_some(self, seat: Seat) -> bool:
        """Let a part see what happened; what it stumbles over is lost to it, and to nobody else."""
        try:
            return seat.deliver(EVENTS_PER_SLICE_MAX)
        except Exception as error:
            self.on_fault(seat.part.name, "what happened", error)
            return True

    async def _breathe(self) -> None:
        """Let others use the event loop if this slice is over."""
        if asyncio.get_running_loop().time() >= self._slice_end:
            await self._give_way()

    async def _give_way(self) -> None:
        """Let requests that have come be answered, then begin a slice."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SECONDS_FOR_OTHERS_MAX
        for _ in range(TURNS_FOR_OTHERS):
            await asyncio.sleep(0)
            if loop.time() > end:
                break
        self._slice_end = loop.time() + SLICE_SECONDS

    async def _look(self, seat: Seat, key: str) -> None:
        moment = self.moment()
        try:
            step = seat.part.step(key, seat.view, moment)
        except Exception as error:
            # A mistake in one part must not stop the others; a simulation raises it.
            self.on_fault(seat.part.name, key, error)
            seat.finished(key, Step(), refused=True, elapsed=moment.elapsed)
            return
        if any(suspends(self.api, action) for action in step.actions):
            seat.busy.add(key)
            task = asyncio.create_task(self._act_aside(seat, key, step, moment))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            await self._act(seat, key, step, moment)

    async def _act_aside(self, seat: Seat, key: str, step: Step, moment: Moment) -> None:
        """Act while other keys are looked at; this one waits."""
        try:
            await self._act(seat, key, step, moment)
        finally:
            seat.busy.discard(key)
            self.wake()

    async def _act(self, seat: Seat, key: str, step: Step, moment: Moment) -> None:
        refused = False
        part, options = seat.part, options_of(seat.part.manager)
        for action in step.actions:
            try:
                if isinstance(action, Emit):
                    if self._recorder is not None:
                        await self._recorder.record(action, part.name, options, moment)
                else:
                    await execute(self.api, action, options)
            except ClusterError as error:
                refused = True
                self._tell_refused(part, key, action, error)
                break
            except Exception as error:
                refused = True
                self.on_fault(part.name, key, error)
                break
            await self._breathe()
        seat.finished(key, step, refused=refused, elapsed=self.clock.elapsed())

    def _tell_refused(self, part: Part, key: str, action: Action, error: ClusterError) -> None:
        try:
            part.refused(key, action, error)
        except Exception as fault:
            self.on_fault(part.name, key, fault)

    async def run(self) -> None:
        """Work as events come and timers ring, until cancelled."""
        self._alarm = asyncio.Event()
        try:
            while True:
                await self._give_way()
                while await self.turn():
                    await self._breathe()
                await self._sleep()
        finally:
            await self._drop_tasks()

    async def _join_tasks(self) -> None:
        """Wait for all who act aside; what one of them raises is raised here."""
        done, _ = await asyncio.wait(self._tasks)
        for task in done:
            task.result()

    async def _drop_tasks(self) -> None:
        """Nobody acts any more once the world has ended: the store may be closed then."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _sleep(self) -> None:
        assert self._alarm is not None
        if any(seat.has_work for seat in self.seats):
            return
        self._alarm.clear()
        due = self._next_due()
        wait = None if due is None else self.clock.wall_seconds(due - self.clock.elapsed())
        if wait is not None:
            # A grace period may be longer than a timer can be.
            wait = min(wait, SLEEP_SECONDS_MAX)
        try:
            async with asyncio.timeout(wait):
                await self._alarm.wait()
        except TimeoutError:
            return

    def _next_due(self) -> float | None:
        times = [due for seat in self.seats if (due := seat.next_due()) is not None]
        return min(times, default=None)

    async def settle(self) -> None:
        """Work until nothing is left to do at this moment."""
        for _ in range(TURNS_MAX):
            worked = await self.turn()
            if self._tasks:
                await self._join_tasks()
                worked = True
            if not worked:
                return
        raise AssertionError("the parts never come to rest")

    async def advance(self, seconds: float) -> None:
        """Let virtual time pass, from timer to timer."""
        clock = self.clock
        assert isinstance(clock, VirtualClock)
        end = clock.elapsed() + seconds
        await self.settle()
        while (due := self._next_due()) is not None and due <= end:
            clock.advance(max(0.0, due - clock.elapsed()))
            await self.settle()
        clock.advance(max(0.0, end - clock.elapsed()))

    async def leap(self, seconds: float) -> None:
        """Let simulated time pass at once in a running cluster, from timer to timer."""
        clock = self.clock
        assert isinstance(clock, WallClock)
        was_paused = clock.is_paused
        clock.pause()
        end = clock.elapsed() + seconds
        await self._rest()
        while (due := self._next_due()) is not None and due <= end:
            clock.step(max(0.0, due - clock.elapsed()))
            await self._rest()
        clock.step(max(0.0, end - clock.elapsed()))
        if not was_paused:
            clock.resume()

    async def _rest(self) -> None:
        """Work until nothing is left to do at this moment, and let others work in between."""
        while True:
            worked = await self.turn()
            if self._tasks:
                await self._join_tasks()
            elif not worked and not any(seat.has_work for seat in self.seats):
                return
            await asyncio.sleep(0)


def _raise(part: str, key: str, error: Exception) -> None:
    raise error
