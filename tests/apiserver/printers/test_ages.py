"""Ages are short, and coarser the longer they are."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.resources.printers import show_age, show_duration

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (5 * MINUTE + 12, "5m12s"),
        (10 * MINUTE - 1, "9m59s"),
        (10 * MINUTE + 1, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (7 * HOUR + 59 * MINUTE, "7h59m"),
        (8 * HOUR + MINUTE, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY, "2d"),
        (3 * DAY + 4 * HOUR, "3d4h"),
        (8 * DAY + HOUR, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + 5 * DAY, "2y5d"),
        (8 * YEAR + DAY, "8y"),
    ],
)
def test_a_duration_is_shown_as_kubectl_shows_it(seconds: int, text: str) -> None:
    assert show_duration(seconds) == text


@pytest.mark.parametrize(
    ("timestamp", "text"),
    [
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("never", "<invalid>"),
        ("2026-01-02", "<invalid>"),
        ("2026-01-02T03:04:00Z", "5s"),
        ("2026-01-02T04:04:00.250000+01:00", "4s"),
    ],
)
def test_an_age_is_counted_from_a_timestamp(timestamp: str | None, text: str) -> None:
    assert show_age(timestamp, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == text


@given(st.integers(0, 20 * YEAR))
def test_a_duration_never_takes_more_than_seven_characters(seconds: int) -> None:
    assert 2 <= len(show_duration(seconds)) <= 7
