"""
Timestamps as Kubernetes writes them: UTC, in whole seconds, with a Z at the end.

Objects, statuses and events are compared as text, so every timestamp is written here.
"""

from datetime import UTC, datetime


def write_time(when: datetime) -> str:
    """The timestamp of a time in UTC."""
    # Every write needs several timestamps, and ``strftime`` is slower than this.
    return f"{when.isoformat()[:19]}Z"


def write_moment(seconds: float) -> str:
    """The timestamp of a moment that is given in seconds since the epoch."""
    return write_time(datetime.fromtimestamp(seconds, UTC))
