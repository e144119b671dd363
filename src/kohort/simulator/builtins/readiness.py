"""
Ready and available pods, for the controllers that count them.

A pod is available when it has been ready for long enough. Timestamps are wall
time, so that is what readiness is measured by.
"""

from datetime import datetime

from kohort.apiserver.store.entries import Facts
from kohort.simulator.component import Moment

FINISHED = frozenset({"Failed", "Succeeded"})


def seconds_since(stamp: str | None, moment: Moment) -> float:
    """How long ago a timestamp was; forever if there is none."""
    if not stamp:
        return float("inf")
    return (moment.wall - datetime.fromisoformat(stamp)).total_seconds()


def seconds_until_available(facts: Facts, min_ready: int, moment: Moment) -> float | None:
    """The seconds until a ready pod is available; 0 if it is, None if it is not ready."""
    conditions = (facts.status.conditions if facts.status else None) or ()
    ready = next((c for c in conditions if c.type == "Ready" and c.status == "True"), None)
    if ready is None:
        return None
    if min_ready <= 0:
        return 0.0
    return max(0.0, min_ready - seconds_since(ready.last_transition_time, moment))
