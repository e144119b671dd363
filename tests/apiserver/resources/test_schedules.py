"""Schedules of CronJobs: what is due when, and what is no schedule."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.resources.schedules import ScheduleError, parse_schedule

NOW = datetime(2026, 1, 1, 12, 30, 15, tzinfo=UTC)  # a Thursday


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("* * * * *", "2026-01-01T12:31"),
        ("0 * * * *", "2026-01-01T13:00"),
        ("*/20 * * * *", "2026-01-01T12:40"),
        ("30 12 * * *", "2026-01-02T12:30"),
        ("0 3 * * 0", "2026-01-04T03:00"),
        ("0 0 29 2 *", "2028-02-29T00:00"),
        ("0 0 13 * fri", "2026-01-02T00:00"),
        ("15 8-10/2 * jun mon-wed", "2026-06-01T08:15"),
        ("@daily", "2026-01-02T00:00"),
        ("@yearly", "2027-01-01T00:00"),
    ],
)
def test_a_schedule_is_due_at_its_next_moment(text: str, due: str):
    found = parse_schedule(text).find_next(NOW)
    assert found == datetime.fromisoformat(due).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "5-1 * * * *", "@often", "x"]
)
def test_what_is_no_schedule_is_refused(text: str):
    with pytest.raises(ScheduleError):
        parse_schedule(text)


def test_a_day_that_never_comes_is_never_due():
    assert parse_schedule("0 0 31 2 *").find_next(NOW) is None


@given(st.integers(0, 59), st.integers(0, 23), st.integers(0, 100_000))
def test_nothing_is_due_between_a_moment_and_the_next(minute: int, hour: int, offset: int):
    schedule = parse_schedule(f"{minute} {hour} * * *")
    after = NOW + timedelta(minutes=offset)
    due = schedule.find_next(after)
    assert due is not None
    assert timedelta(0) < due - after <= timedelta(days=1)
    assert (due.minute, due.hour) == (minute, hour)
