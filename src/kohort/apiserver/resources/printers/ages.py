"""
Durations in kubectl's short form, such as 5d3h.

The longer the span, the coarser the text: a reader of ``3d4h`` does not miss
the minutes. The limits are those of Kubernetes, so that columns look the same.
"""

from datetime import datetime
from typing import Any

_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86400
_YEAR = 365 * _DAY
_SIZES = {"s": _SECOND, "m": _MINUTE, "h": _HOUR, "d": _DAY, "y": _YEAR}

# Below each limit, the text counts in these units, the second one only if it is not zero.
_STEPS = (
    (2 * _MINUTE, "s"),
    (10 * _MINUTE, "ms"),
    (3 * _HOUR, "m"),
    (8 * _HOUR, "hm"),
    (2 * _DAY, "h"),
    (8 * _DAY, "dh"),
    (2 * _YEAR, "d"),
    (8 * _YEAR, "yd"),
)


def show_duration(seconds: int) -> str:
    """A duration as text; ``<invalid>`` if it is negative by more than a second."""
    if seconds < -1:
        return "<invalid>"
    rest = max(seconds, 0)
    units = next((units for limit, units in _STEPS if rest < limit), "y")
    parts: list[str] = []
    for unit in units:
        count, rest = divmod(rest, _SIZES[unit])
        if count or not parts:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def show_age(timestamp: Any, now: datetime) -> str:
    """The age of a timestamp; ``<unknown>`` if there is none."""
    if not timestamp:
        return "<unknown>"
    moment = find_moment(timestamp)
    return "<invalid>" if moment is None else show_duration(int((now - moment).total_seconds()))


def find_moment(timestamp: Any) -> datetime | None:
    """The time in a timestamp; None if it is invalid or has no time zone."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None
