"""
The time of a cluster, by the date of the API server's last answer.

Ages are shown by the cluster's clock. If it is less than a minute from this machine's clock, that
one is used instead: the date of an answer has whole seconds only.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NEAR_SECONDS = 60


def read_time(date: str, here: datetime) -> datetime:
    """The time of a server by the date of its last answer; this machine's if there is no date."""
    told = _read_date(date)
    return here if told is None or _is_near(told, here) else told


def is_far(date: str, here: datetime) -> bool:
    """Whether a server's clock is a minute or more from this machine's."""
    told = _read_date(date)
    return told is not None and not _is_near(told, here)


def _is_near(told: datetime, here: datetime) -> bool:
    return abs((here - told).total_seconds()) <= _NEAR_SECONDS


def _read_date(date: str) -> datetime | None:
    try:
        return parsedate_to_datetime(date).astimezone(UTC)
    except (TypeError, ValueError):
        return None
