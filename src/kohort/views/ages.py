"""Moments and how long ago they were, in the words that kubectl's users know."""

from datetime import datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def find_time(stamp: str | None) -> datetime | None:
    """The moment that a timestamp of the API names, if it names one."""
    try:
        return datetime.fromisoformat(stamp) if stamp else None
    except ValueError:
        return None


def write_age(since: datetime | None, now: datetime) -> str:
    """How long ago something was: ``12s``, ``4m12s``, ``3h5m``, ``2d4h``."""
    if since is None:
        return ""
    seconds = max(0, int((now - since).total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return _join(seconds, _MINUTE, "m", 1, "s")
    if seconds < _DAY:
        return _join(seconds, _HOUR, "h", _MINUTE, "m")
    return _join(seconds, _DAY, "d", _HOUR, "h")


def _join(seconds: int, large: int, large_word: str, small: int, small_word: str) -> str:
    whole, rest = divmod(seconds, large)
    return (
        f"{whole}{large_word}{rest // small}{small_word}"
        if rest // small
        else f"{whole}{large_word}"
    )
