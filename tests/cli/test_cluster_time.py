"""Ages are shown by the cluster's clock, which is this machine's while the two agree."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kohort.cli.workloads.facts import is_far, read_time

HERE = datetime(2026, 1, 1, 9, 0, 0, 250_000, tzinfo=UTC)


def write_date(seconds: float) -> str:
    return format_datetime(HERE.replace(microsecond=0) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize("date", [write_date(0), write_date(60), write_date(-59), "", "no date"])
def test_a_clock_that_is_near_or_unknown_is_ours(date: str):
    assert (read_time(date, HERE), is_far(date, HERE)) == (HERE, False)


@pytest.mark.parametrize("seconds", [61, -61, 86_400])
def test_another_clock_counts(seconds: int):
    date = write_date(seconds)
    assert read_time(date, HERE) == HERE.replace(microsecond=0) + timedelta(seconds=seconds)
    assert is_far(date, HERE)
