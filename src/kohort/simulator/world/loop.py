"""
The world: the components of a control plane around one API, and the order in which they act.

In a running cluster time passes by itself: ``run`` works in short slices, which may
end between any two actions, and lets the event loop serve requests in between. In a
simulation no time passes by itself: ``settle`` works until nothing is left to do now, and
``advance`` moves a virtual clock from timer to timer. Both use the same turn, and
within a turn components act in the order in which they were given, so a simulation repeats
itself exactly.

A component works through the keys that it had when its turn came. So the changes of a hundred
pods in one turn cost one reconcile of the set that owns them, and not a hundred.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from kohort.apiserver.api.api import ApiServer
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind
from kohort.simulator.clock import Clock, VirtualClock, WallClock
from kohort.simulator.component import Component, ComponentAction, EventRequest, Moment, Step
from kohort.simulator.world.component_runner import ComponentRunner
from kohort.simulator.world.execution import Recorder, execute, options_of, suspends

SLICE_SECONDS = 0.004
KEYS_PER_TURN_MAX = 64
EVENTS_PER_SLICE_MAX = 100
# After a slice, requests get so many turns of the event loop: one to be read and carried out,
# one to send watch events, one to be answered. So no answer waits for the next slice.
TURNS_FOR_OTHERS = 4
SECONDS_FOR_OTHERS_MAX = 0.002
SLEEP_SECONDS_MAX = 3600.0
TURNS_MAX = 1_000_000
# After so many turns of the event loop, a neighbour has begun work on what it has seen.
TURNS_TO_HEAR = 25
SECONDS_TO_LOOK_AGAIN = 0.002


class Neighbour(Protocol):
    """Another actor on the cluster, such as the operator: ``leap`` waits for its work."""

    def is_at_work(self) -> bool:
        """Whether it has work now."""

    def next_seconds(self) -> float | None:
        """The seconds until its next timer."""


class World:
    """All components, each with its runner."""

    def __init__(
        self, api: ApiServer, components: Sequence[Component], clock: Clock, *, records: bool = True
    ) -> None:
        self.api = api
        self.clock = clock
        self.runners = [ComponentRunner(component, api, self.wake) for component in components]
        # A simulation without clients has no use for events.
        self._recorder = Recorder(api) if records else None
        self._alarm: asyncio.Event | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._slice_end = float("inf")
        self.neighbour: Neighbour | None = None
        self.is_leaping = False
        self.on_fault: Callable[[str, str, Exception], None] = _raise
        self._watch()
        api.registry.listeners.append(self._watch)

    def wake(self) -> None:
        """Wake ``run``, since something changed."""
        if self._alarm is not None:
            self._alarm.set()

    def _watch(self) -> None:
        """Pass new kinds to the components that watch all kinds."""
        kinds = [r.kind for r in self.api.registry.storage_kinds() if "list" in r.verbs]
        for runner in self.runners:
            learn: Callable[[Sequence[Kind]], None] | None = getattr(
                runner.component, "watch_kinds", None
            )
            if learn is not None:
                learn(kinds)
            runner.watch(runner.component.kinds)

    def moment(self) -> Moment:
        """The current wall time and simulated time."""
        return Moment(self.clock.now(), self.clock.elapsed())

    async def turn(self) -> bool:
        """Let each component reconcile its due keys; returns whether one of them acted."""
        self.api.store.flush()
        worked = False
        for runner in self.runners:
            if runner.is_awaited:
                await self._deliver(runner)
            for _ in range(min(runner.count_due(self.clock.elapsed()), KEYS_PER_TURN_MAX)):
                key = runner.take(self.clock.elapsed())
                if key is None:
                    break
                worked = True
                await self._step(runner, key)
                await self._breathe()
                if runner.is_awaited:
                    await self._deliver(runner)
        return worked

    async def _deliver(self, runner: ComponentRunner) -> None:
        while self._deliver_some(runner):
            await self._breathe()

    def _deliver_some(self, runner: ComponentRunner) -> bool:
        """Apply waiting events of a component; an event that makes it fail is dropped."""
        try:
            return runner.deliver(EVENTS_PER_SLICE_MAX)
        except Exception as error:
            self.on_fault(runner.component.name, "what happened", error)
            return True

    async def _breathe(self) -> None:
        """Yield to the event loop if this time slice is over."""
        if asyncio.get_running_loop().time() >= self._slice_end:
            await self._give_way()

    async def _give_way(self) -> None:
        """Let waiting requests be answered, then begin a new time slice."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SECONDS_FOR_OTHERS_MAX
        for _ in range(TURNS_FOR_OTHERS):
            await asyncio.sleep(0)
            if loop.time() > end:
                break
        self._slice_end = loop.time() + SLICE_SECONDS

    async def _step(self, runner: ComponentRunner, key: str) -> None:
        moment = self.moment()
        try:
            step = runner.component.step(key, runner.view, moment)
        except Exception as error:
            # A mistake in one component must not stop the others; a simulation raises it.
            self.on_fault(runner.component.name, key, error)
            runner.finished(key, Step(), refused=True, elapsed=moment.elapsed)
            return
        if any(suspends(self.api, action) for action in step.actions):
            runner.busy.add(key)
            task = asyncio.create_task(self._act_aside(runner, key, step, moment))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            await self._execute(runner, key, step, moment)

    async def _act_aside(
        self, runner: ComponentRunner, key: str, step: Step, moment: Moment
    ) -> None:
        """Carry out actions in a task, while other keys are reconciled and this one waits."""
        try:
            await self._execute(runner, key, step, moment)
        finally:
            runner.busy.discard(key)
            self.wake()

    async def _execute(self, runner: ComponentRunner, key: str, step: Step, moment: Moment) -> None:
        refused = False
        component, options = runner.component, options_of(runner.component.manager)
        for action in step.actions:
            try:
                if isinstance(action, EventRequest):
                    if self._recorder is not None:
                        await self._recorder.record(action, component.name, options, moment)
                else:
                    await execute(self.api, action, options)
            except ClusterError as error:
                refused = True
                self._report_refused(component, key, action, error)
                break
            except Exception as error:
                refused = True
                self.on_fault(component.name, key, error)
                break
            await self._breathe()
        runner.finished(key, step, refused=refused, elapsed=self.clock.elapsed())

    def _report_refused(
        self, component: Component, key: str, action: ComponentAction, error: ClusterError
    ) -> None:
        try:
            component.refused(key, action, error)
        except Exception as fault:
            self.on_fault(component.name, key, fault)

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
        """Wait for all tasks of actions, and raise their errors."""
        done, _ = await asyncio.wait(self._tasks)
        for task in done:
            task.result()

    async def _drop_tasks(self) -> None:
        """Cancel all tasks of actions, since the store may be closed after this."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _sleep(self) -> None:
        assert self._alarm is not None
        if self._has_work:
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
        times = [due for runner in self.runners if (due := runner.next_due()) is not None]
        return min(times, default=None)

    async def settle(self) -> None:
        """Reconcile until no key is due."""
        for _ in range(TURNS_MAX):
            worked = await self.turn()
            if self._tasks:
                await self._join_tasks()
                worked = True
            if not worked:
                return
        raise AssertionError("the components never come to rest")

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
        self.is_leaping = True
        try:
            await self._leap_to(clock, clock.elapsed() + seconds)
        finally:
            self.is_leaping = False
        if not was_paused:
            clock.resume()

    async def _leap_to(self, clock: WallClock, end: float) -> None:
        await self._rest()
        while (due := self._next_due_of_all()) is not None and due <= end:
            clock.step(max(0.0, due - clock.elapsed()))
            await self._rest()
        clock.step(max(0.0, end - clock.elapsed()))
        await self._rest()

    def _next_due_of_all(self) -> float | None:
        due = self._next_due()
        after = self.neighbour.next_seconds() if self.neighbour else None
        if after is None:
            return due
        looks_at = self.clock.elapsed() + after
        return looks_at if due is None else min(due, looks_at)

    async def _rest(self) -> None:
        """Reconcile until no key is due, and let the neighbour work in between."""
        while True:
            worked = await self.turn()
            if self._tasks:
                await self._join_tasks()
            elif not worked and not self._has_work and not await self._hears_of_work():
                return
            await asyncio.sleep(0)

    @property
    def _has_work(self) -> bool:
        return any(runner.has_work for runner in self.runners)

    async def _hears_of_work(self) -> bool:
        """Whether the neighbour has work, after it had time to see the latest events."""
        if self.neighbour is None:
            return False
        for _ in range(TURNS_TO_HEAR):
            await asyncio.sleep(0)
            if self.neighbour.is_at_work():
                await asyncio.sleep(SECONDS_TO_LOOK_AGAIN)
                return True
        return self._has_work


def _raise(component: str, key: str, error: Exception) -> None:
    raise error
