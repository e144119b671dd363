"""The time of a cluster: the wall clock, or the readings of a clock of its own."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from kohort.controller.clock import LoopTime
from kohort.dashboard.clock import ClusterClock
from kohort.simulation.virtual_loop import run_virtually

START = datetime(2020, 1, 1, 9, tzinfo=UTC)


def make_reading(seconds: float = 0.0, **parts: Any) -> dict[str, Any]:
    """A reading of a clock that runs."""
    now = (START + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    return {"now": now, "speed": 1.0, "isPaused": False, "isOwn": True, **parts}


def write_date(seconds: float) -> str:
    """The date of an answer of a server that is so far ahead of this machine."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def measure_dates(*dates: str) -> tuple[list[bool], float, bool]:
    """Whether each date changed the time, how far it is ahead then, and whether it is simulated."""

    async def take() -> tuple[list[bool], float, bool]:
        clock = ClusterClock()
        changes = [clock.take(None, date) for date in dates]
        ahead = (clock.now() - datetime.now(UTC)).total_seconds()
        return changes, round(ahead / 60), clock.is_own

    return run_virtually(take)


def measure(*steps: tuple[dict[str, Any] | None, float]) -> tuple[list[bool], float]:
    """Whether each reading changed the time, and the seconds since the start after all of them."""

    async def take() -> tuple[list[bool], float]:
        clock = ClusterClock()
        changes = []
        for told, seconds in steps:
            changes.append(clock.take(told))
            await LoopTime().sleep(seconds)
        return changes, round((clock.now() - START).total_seconds(), 2)

    return run_virtually(take)


def test_a_cluster_without_a_clock_of_its_own_has_the_time_of_the_wall():
    for told in (None, make_reading(isOwn=False)):
        changes, seconds = measure((told, 0))
        assert changes == [False]
        assert seconds > timedelta(days=365).total_seconds()


@pytest.mark.parametrize(
    ("parts", "passed"), [({}, 10), ({"speed": 60.0}, 600), ({"isPaused": True, "speed": 60.0}, 0)]
)
def test_the_time_follows_the_rate_of_the_clock(parts: dict[str, Any], passed: float):
    assert measure((make_reading(**parts), 10)) == ([True], passed)


def test_a_reading_that_agrees_changes_nothing():
    # The clock is read in whole seconds, and a reading takes its time.
    fast = {"speed": 60.0}
    assert measure((make_reading(**fast), 1), (make_reading(59, **fast), 0)) == ([True, False], 60)
    assert measure((make_reading(isPaused=True), 1), (make_reading(isPaused=True), 1)) == (
        [True, False],
        0,
    )


@pytest.mark.parametrize(
    "later",
    [
        make_reading(90),
        make_reading(1, isPaused=True),
        make_reading(1, speed=2.0),
        make_reading(1, isOwn=False),
    ],
    ids=["leaped", "paused", "faster", "replaced"],
)
def test_a_reading_that_differs_is_a_change(later: dict[str, Any]):
    changes, _ = measure((make_reading(), 1), (later, 0))
    assert changes == [True, True]


def test_the_smallest_step_of_a_clock_that_stands_is_a_change():
    stands = {"isPaused": True}
    assert measure((make_reading(**stands), 5), (make_reading(1, **stands), 5)) == ([True, True], 1)


def test_a_reading_that_fails_leaves_the_time_as_it_was():
    assert measure((make_reading(), 5), (None, 5)) == ([True, False], 10)


def test_the_clock_of_the_server_counts_where_it_is_far_from_ours():
    hour = write_date(3600)
    assert measure_dates(hour) == ([True], 60, False)
    assert measure_dates(write_date(-3600)) == ([True], -60, False)
    assert measure_dates(hour, hour) == ([True, False], 60, False)
    assert measure_dates(hour, "") == ([True, False], 60, False)


def test_the_wall_clock_counts_again_when_the_server_agrees():
    assert measure_dates(write_date(3600), write_date(5)) == ([True, True], 0, False)
    assert measure_dates(write_date(5), "no date") == ([False, False], 0, False)


def test_a_clock_of_a_simulation_counts_before_the_date():
    async def take() -> float:
        clock = ClusterClock()
        clock.take(make_reading(), write_date(3600))
        return (clock.now() - START).total_seconds()

    assert run_virtually(take) == 0
