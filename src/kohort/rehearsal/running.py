"""
One rehearsal from its first write to silence: the same play, the same run, bit for bit.

Faults come first; then all of them end, and everything has to come to rest within a
bound and to stay so. A failed run tells which promises were broken, and when.
"""

import asyncio
import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

from kohort.rehearsal.acts import act
from kohort.rehearsal.candidates import tell_error
from kohort.rehearsal.checkers import ALL, Checker, Scene
from kohort.rehearsal.checkers.gangs.words import BY_KIND
from kohort.rehearsal.checkers.stability import Stability
from kohort.rehearsal.checkers.truth import CHILDREN, WORKLOAD
from kohort.rehearsal.choices import Choices
from kohort.rehearsal.faults import draw_play
from kohort.rehearsal.looping import Stuck, run_virtually
from kohort.rehearsal.plane import Request
from kohort.rehearsal.play import NAME, STATEFULSETS, Play, make_workload
from kohort.rehearsal.stage import Stage

SETTLE_SECONDS_MAX = 420.0
SILENCE_SECONDS = 70.0
TAKE_DOWN_SECONDS_MAX = 120.0
POLL_SECONDS = 2.0
SETS_SECONDS = 5.0  # within which sets do what they were told
BREACHES_MAX = 10  # more of them tell nothing new
_DELAYS = {"lag", "relist", "break", "deaf", "slow-request", "slow-answer"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a play."""

    play: Play
    breaches: tuple[str, ...]
    digest: str  # of everything that was written, by whom and when
    log: tuple[str, ...]
    writes: int
    virtual_seconds: float
    cpu_seconds: float

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return not self.breaches

    def without_log(self) -> "Outcome":
        """The same without what was written."""
        return replace(self, log=())


def rehearse_seed(seed: int) -> Outcome:
    """Run what a seed means."""
    return rehearse(draw_play(seed))


def rehearse(play: Play) -> Outcome:
    """Run one play."""
    begun = time.thread_time()
    order = Choices(play.seed).fork("loop")
    stages: list[Stage] = []
    try:
        with _uncollected():
            run_virtually(lambda: _perform(play, stages), order.mix if play.is_mixed else None)
    except Stuck as error:
        stages[-1].breach(f"O6: {error}")
    except Exception as error:
        # One run that breaks must not end the others: it is a failure of its seed.
        if not stages:
            raise
        stages[-1].breach(f"O6: the run broke: {tell_error(error)}")
    stage = stages[-1]
    log = tuple(stage.truth.log)
    return Outcome(
        play,
        tuple(dict.fromkeys(stage.breaches)),
        sha256("\n".join(log).encode()).hexdigest(),
        log,
        stage.trouble.count,
        stage.clock.elapsed(),
        time.thread_time() - begun,
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


async def _perform(play: Play, stages: list[Stage]) -> None:
    stage = await Stage.open(play)
    stages.append(stage)
    checkers = _watch(stage)
    stage.start()
    try:
        await stage.create(WORKLOAD, make_workload(play, says_carrier=_says_carrier(play)))
        await asyncio.gather(*(act(stage, fault) for fault in play.faults))
        # Whatever has to happen with the n-th request has had its time, too.
        await asyncio.sleep(POLL_SECONDS)
        stage.trouble.end()
        for checker in checkers:
            checker.quiet()
        await _settle(stage, checkers)
        for checker in checkers:
            checker.end()
        if play.seed % 4 == 0:
            await _take_down(stage)
            for checker in checkers:
                checker.gone()
    finally:
        await stage.close()


def _says_carrier(play: Play) -> bool:
    """A workload that says nothing keeps the default of the version that it was made under."""
    return not (play.has("upgrade") and play.carrier == STATEFULSETS)


async def _take_down(stage: Stage) -> None:
    """C2: what belongs to a workload goes with it."""
    await stage.delete(WORKLOAD, NAME)
    end = stage.clock.elapsed() + TAKE_DOWN_SECONDS_MAX
    held = stage.truth.objects
    while stage.clock.elapsed() < end:
        await asyncio.sleep(POLL_SECONDS)
        if not any(held.get(kind) for kind in (*CHILDREN, *BY_KIND)):
            break
    left = [f"{kind.name} {name}" for kind in CHILDREN for name in held[kind]]
    if left:
        stage.breach(f"C2: left behind: {', '.join(left[:4])}")


def _watch(stage: Stage) -> list[Checker]:
    play = stage.play
    lags = sum(f.seconds for f in play.faults if f.name == "part-lag")
    scene = Scene(
        play,
        stage.truth,
        stage.clock.elapsed,
        stage.breach,
        _patience_of(play),
        lags + SETS_SECONDS,
    )
    checkers = [make(scene) for make in ALL]
    for checker in checkers:
        stage.truth.listeners.append(checker.commit)

    def on_request(request: Request) -> None:
        for checker in checkers:
            checker.request(request)

    stage.trouble.on_request = on_request
    return checkers


def _patience_of(play: Play) -> float:
    """For how long the operator may not have seen what happened."""
    delays = sum(f.seconds * f.span for f in play.faults if f.name in _DELAYS)
    return 1.0 + 5 * play.latency + delays


async def _settle(stage: Stage, checkers: list[Checker]) -> None:
    stability = next(c for c in checkers if isinstance(c, Stability))
    end = stage.clock.elapsed() + SETTLE_SECONDS_MAX
    trouble = ""
    while stage.clock.elapsed() < end:
        await asyncio.sleep(POLL_SECONDS)
        stage.check_alive()
        if len(stage.breaches) >= BREACHES_MAX:
            return
        trouble = stability.find_trouble()
        is_silent = stage.clock.elapsed() - stability.last_write >= SILENCE_SECONDS
        if not trouble and is_silent:
            return
    last = stability.last
    text = f"{last.kind.name} {last.name} by {last.writer or 'others'}" if last else "nothing"
    stage.breach(f"O2: {trouble or f'it never rests, last written: {text}'}")
