"""
One simulation from its first write to silence: the same scenario, the same run, bit for bit.

Faults come first; then all of them end, and everything has to come to rest within a
bound and to stay so. The outcome of a failed run names the broken promises and their times.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

from kohort.simulation.checkers import Checker, Scene
from kohort.simulation.checkers.gang_dialects import BY_KIND
from kohort.simulation.checkers.kept_units import has_restless
from kohort.simulation.checkers.stability import Stability
from kohort.simulation.choices import Choices
from kohort.simulation.fault_actions import apply_fault
from kohort.simulation.faulty_cluster import Request
from kohort.simulation.harness import Harness
from kohort.simulation.known import find_simulated_of
from kohort.simulation.operator_processes import describe_error
from kohort.simulation.scenario import NAME, Scenario
from kohort.simulation.virtual_loop import Stuck, run_virtually

SETTLE_SECONDS_MAX = 420.0
SILENCE_SECONDS = 70.0
TAKE_DOWN_SECONDS_MAX = 120.0
POLL_SECONDS = 2.0
SETS_SECONDS = 5.0  # within which StatefulSets act on a changed spec
BREACHES_MAX = 10  # further breaches are rarely of another kind
MakeChecker = Callable[[Scene], Checker]
_DELAYS = {"lag", "relist", "break", "deaf", "slow-request", "slow-answer"}
_ENDS = {"crash-before", "crash-after", "restart", "upgrade", "partitioned"}  # of processes
LEASE_SECONDS = 20.0  # until another process has the lease of one that ended, and has looked


@dataclass(frozen=True, slots=True)
class Outcome:
    """The broken promises, the log and the costs of one run of a scenario."""

    scenario: Scenario
    breaches: tuple[str, ...]
    digest: str  # of everything that was written, by whom and when
    log: tuple[str, ...]
    writes: int
    virtual_seconds: float
    cpu_seconds: float
    is_restless: bool = False  # a partition keeps a unit that fails again and again

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return not self.breaches

    def without_log(self) -> "Outcome":
        """The same outcome without the log of all writes."""
        return replace(self, log=())


def simulate(scenario: Scenario, observers: Sequence[MakeChecker] = ()) -> Outcome:
    """Run one scenario; observers see what checkers see."""
    begun = time.thread_time()
    order = Choices(scenario.seed).fork("loop")
    harnesses: list[Harness] = []
    is_restless = False
    try:
        with _uncollected():
            run_virtually(
                lambda: _run_scenario(scenario, harnesses, observers),
                order.mix if scenario.is_mixed else None,
            )
        is_restless = has_restless(harnesses[-1].truth)
    except Stuck as error:
        harnesses[-1].breach(f"O6: {error}")
    except Exception as error:
        # One run that breaks must not end the others: it is a failure of its seed.
        if not harnesses:
            raise
        harnesses[-1].breach(f"O6: the run broke: {describe_error(error)}")
    harness = harnesses[-1]
    log = tuple(harness.truth.log)
    return Outcome(
        scenario,
        tuple(dict.fromkeys(harness.breaches)),
        sha256("\n".join(log).encode()).hexdigest(),
        log,
        harness.trouble.count,
        harness.clock.elapsed(),
        time.thread_time() - begun,
        is_restless,
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """A run is short: what it leaves in circles is collected after it, all at once."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


async def _run_scenario(
    scenario: Scenario, harnesses: list[Harness], observers: Sequence[MakeChecker]
) -> None:
    harness = await Harness.open(scenario, find_simulated_of(scenario))
    harnesses.append(harness)
    checkers = _watch(harness, observers)
    harness.start()
    try:
        await harness.create_workload(is_first=True)
        await asyncio.gather(*(apply_fault(harness, fault) for fault in scenario.faults))
        # Whatever has to happen with the n-th request has had its time, too.
        await asyncio.sleep(POLL_SECONDS)
        harness.trouble.end()
        for checker in checkers:
            checker.quiet()
        await _settle(harness, checkers)
        for checker in checkers:
            checker.end()
        if scenario.seed % 4 == 0:
            await _take_down(harness)
            for checker in checkers:
                checker.gone()
    finally:
        await harness.close()


async def _take_down(harness: Harness) -> None:
    """C2: what belongs to a workload goes with it."""
    await harness.delete(harness.simulated.kind, NAME)
    end = harness.clock.elapsed() + TAKE_DOWN_SECONDS_MAX
    held, children = harness.truth.objects, harness.truth.children
    while harness.clock.elapsed() < end:
        await asyncio.sleep(POLL_SECONDS)
        if not any(held.get(kind) for kind in (*children, *BY_KIND)):
            break
    left = [f"{kind.name} {name}" for kind in children for name in held[kind]]
    if left:
        harness.breach(f"C2: left behind: {', '.join(left[:4])}")


def _watch(harness: Harness, observers: Sequence[MakeChecker]) -> list[Checker]:
    scenario = harness.scenario
    lags = sum(f.seconds for f in scenario.faults if f.name == "part-lag")
    scene = Scene(
        scenario,
        harness.simulated,
        harness.truth,
        harness.clock.elapsed,
        harness.breach,
        _patience_of(scenario),
        lags + SETS_SECONDS,
        _absence_of(scenario),
        lambda: harness.gate.down_since,
    )
    checkers = [make(scene) for make in (*harness.simulated.checkers, *observers)]
    for checker in checkers:
        harness.truth.listeners.append(checker.commit)

    def on_request(request: Request) -> None:
        for checker in checkers:
            checker.request(request)

    def on_answer(request: Request, version: int) -> None:
        for checker in checkers:
            checker.answer(request, version)

    harness.trouble.on_request = on_request
    harness.trouble.on_answer = on_answer
    return checkers


def _patience_of(scenario: Scenario) -> float:
    """For how long the operator may not have seen what happened."""
    delays = sum(f.seconds * f.span for f in scenario.faults if f.name in _DELAYS)
    return 1.0 + 5 * scenario.latency + delays


def _absence_of(scenario: Scenario) -> float:
    """For how long no process of the operator may be at work."""
    wait = LEASE_SECONDS if scenario.replicas > 1 else 0.0
    return sum(f.seconds + wait for f in scenario.faults if f.name in _ENDS)


async def _settle(harness: Harness, checkers: list[Checker]) -> None:
    stability = next(c for c in checkers if isinstance(c, Stability))
    end = harness.clock.elapsed() + SETTLE_SECONDS_MAX
    trouble, troubled_at = "", harness.clock.elapsed()
    while harness.clock.elapsed() < end:
        await asyncio.sleep(POLL_SECONDS)
        harness.check_alive()
        if len(harness.breaches) >= BREACHES_MAX:
            return
        trouble = stability.find_trouble()
        now = harness.clock.elapsed()
        troubled_at = now if trouble else troubled_at
        # A unit that must stay on a template that does not last is never silent.
        since = troubled_at if has_restless(harness.truth) else stability.last_write
        if not trouble and now - since >= SILENCE_SECONDS:
            return
    last = stability.last
    text = f"{last.kind.name} {last.name} by {last.writer or 'others'}" if last else "nothing"
    harness.breach(f"O2: {trouble or f'it never rests, last written: {text}'}")
