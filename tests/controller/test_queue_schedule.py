"""The queue: once at a time, never lost, earlier wins, later after failures."""

import asyncio
from random import Random

from controller_world import TestTime
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kohort.controller.queue import Pace, RunResult, Schedule, WorkQueue
from kohort.simulation.virtual_loop import run_virtually

PACE = Pace(gather_seconds=0.03)


def make() -> Schedule[str]:
    return Schedule(PACE, Random(1))


def test_events_of_one_key_are_gathered_into_one_run():
    queue = make()
    for now in (0.0, 0.01, 0.02):
        queue.add("a", now)
    assert queue.take(0.029) is None
    assert queue.take(0.03) == "a"
    assert queue.take(1.0) is None


def test_a_key_whose_run_costs_much_is_gathered_for_longer():
    queue = make()
    gathered = {}
    for cost in (0.001, 0.01, 10.0, 0.0):
        queue.note_cost("a", cost)
        queue.add("a", 0.0)
        gathered[cost] = queue.next_due()
        assert queue.take(1.0) == "a"
        queue.finish("a", 1.0)
    assert gathered == {0.001: 0.03, 0.01: 0.04, 10.0: 0.5, 0.0: 0.03}


def test_of_two_times_the_earlier_counts():
    queue = make()
    queue.add("a", 0.0, after=10.0)
    queue.add("a", 0.0, after=2.0)
    queue.add("a", 0.0, after=5.0)
    assert queue.next_due() == 2.0
    assert queue.take(2.0) == "a"
    assert queue.next_due() is None


def test_a_key_that_is_added_while_it_runs_runs_again_afterwards():
    queue = make()
    queue.add("a", 0.0, after=0.0)
    assert queue.take(0.0) == "a"
    queue.add("a", 0.1)
    assert queue.take(5.0) is None
    queue.finish("a", 5.0)
    assert queue.take(5.0) == "a"


def test_keys_run_in_the_order_in_which_they_were_due():
    queue = make()
    for number, key in enumerate("cab"):
        queue.add(key, number * 0.001)
    assert [queue.take(1.0) for _ in range(4)] == ["c", "a", "b", None]


def test_failures_back_off_to_a_limit_and_success_forgets_them():
    queue = make()
    queue.add("a", 0.0, after=0.0)
    now, waits = 0.0, []
    for _ in range(20):
        assert queue.take(now) == "a"
        queue.finish("a", now, failed=True)
        due = queue.next_due()
        assert due is not None
        waits.append(due - now)
        now = due
    assert 0.003 < waits[0] <= 0.005
    assert all(45.0 <= wait <= 60.0 for wait in waits[15:])
    assert queue.take(now) == "a"
    queue.finish("a", now)
    assert (queue.failures("a"), queue.waiting) == (0, 0)


def test_an_event_cuts_a_long_backoff_short_but_not_to_nothing():
    queue = make()
    queue.add("a", 0.0, after=0.0)
    now = 0.0
    for _ in range(15):
        assert queue.take(now) == "a"
        queue.finish("a", now, failed=True)
        now = queue.next_due() or 0.0
    failed_at = now
    assert queue.take(now) == "a"
    queue.add("a", now)
    queue.finish("a", now, failed=True)
    assert queue.next_due() == failed_at + PACE.failure_seconds_min


def test_depth_and_age_count_what_is_due():
    queue = make()
    queue.add("a", 0.0, after=1.0)
    queue.add("b", 0.0, after=9.0)
    assert (queue.depth(0.5), queue.oldest_seconds(0.5)) == (0, 0.0)
    assert (queue.depth(4.0), queue.oldest_seconds(4.0)) == (1, 3.0)


class QueueMachine(RuleBasedStateMachine):
    """Whatever is done with it, no key runs twice at once, and none is lost."""

    keys = st.sampled_from("abcd")

    def __init__(self) -> None:
        super().__init__()
        self.queue: Schedule[str] = make()
        self.now = 0.0
        self.running: set[str] = set()
        self.owed: set[str] = set()  # added since they last began to run

    @rule(key=keys, after=st.none() | st.floats(0, 5))
    def add(self, key: str, after: float | None) -> None:
        self.queue.add(key, self.now, after)
        self.owed.add(key)

    @rule(seconds=st.floats(0, 3))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def take(self) -> None:
        key = self.queue.take(self.now)
        if key is not None:
            assert key not in self.running
            self.running.add(key)
            self.owed.discard(key)

    @precondition(lambda self: self.running)
    @rule(failed=st.booleans(), data=st.data())
    def finish(self, failed: bool, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.running)))
        self.running.discard(key)
        self.queue.finish(key, self.now, failed=failed)
        if failed:
            self.owed.add(key)

    @invariant()
    def nothing_is_lost(self) -> None:
        assert self.queue.running == len(self.running)
        assert self.queue.waiting == len(self.owed - self.running)

    def teardown(self) -> None:
        for key in sorted(self.running):
            self.queue.finish(key, self.now)
        self.now += 1000.0
        taken = set()
        while (key := self.queue.take(self.now)) is not None:
            taken.add(key)
        assert taken == self.owed


TestQueueMachine = QueueMachine.TestCase
TestQueueMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


async def run_all(seed: int, adds: list[tuple[str, float]], workers: int) -> None:
    chance = Random(seed)
    queue: WorkQueue[str] = WorkQueue(TestTime(), chance, PACE)
    running: set[str] = set()
    owed: set[str] = set()

    async def work(key: str) -> RunResult:
        assert key not in running
        assert len(running) < workers
        running.add(key)
        owed.discard(key)
        await asyncio.sleep(chance.random())
        running.discard(key)
        return RunResult(failed=chance.random() < 0.3)

    task = asyncio.create_task(queue.run(work, workers))
    for key, pause in adds:
        queue.add(key)
        owed.add(key)
        await asyncio.sleep(pause)
    await asyncio.sleep(1000)
    queue.stop()
    await task
    assert not owed
    assert not running


@given(
    st.integers(0, 10**6),
    st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 0.5)), max_size=30),
    st.integers(1, 3),
)
@settings(max_examples=40, deadline=None)
def test_the_running_queue_keeps_its_promises(seed: int, adds, workers: int):
    run_virtually(lambda: run_all(seed, adds, workers))


def test_a_verdict_may_ask_for_another_look():
    async def body() -> list[float]:
        queue: WorkQueue[str] = WorkQueue(TestTime(), Random(1), PACE)
        times: list[float] = []

        async def work(_: str) -> RunResult:
            times.append(round(asyncio.get_running_loop().time(), 3))
            if len(times) == 3:
                queue.stop()
            return RunResult(again_seconds=10.0)

        queue.add("a")
        await queue.run(work)
        return times

    assert run_virtually(body) == [0.03, 10.03, 20.03]


def test_runs_that_come_before_their_time_do_not_pile_up():
    queue, now = make(), 0.0
    for _ in range(10_000):
        queue.add("a", now, 86_400.0)
        queue.add("a", now)
        now += 1.0
        assert queue.take(now) == "a"
        queue.finish("a", now)
    assert queue.waiting == 0
    assert queue.entries < 2_000
