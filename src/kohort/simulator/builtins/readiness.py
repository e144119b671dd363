"""
What a pod's state means to the controllers that count pods.

A pod is available when it has been ready for long enough. Timestamps are wall
time, so that is what readiness is measured by.
"""

from datetime import datetime

from kohort.simulator.component import Moment
from kohort.simulator.store.entries import Facts

FINISHED = frozenset({"Failed", "Succeeded"})


def seconds_since(stamp: str | None, moment: Moment) -> float:
    """How long ago a timestamp was; forever if there is none."""
    if not stamp:
        return float("inf")
    return (moment.wall - datetime.fromisoformat(stamp)).total_seconds()


def seconds_until_available(facts: Facts, min_ready: int, moment: Moment) -> float | None:
    """Nothing left (0) if the pod is available, None if it is not even ready."""
    conditions = (facts.status.conditions if facts.status else None) or ()
    ready = next((c for c in conditions if c.type == "Ready" and c.status == "True"), None)
    if ready is None:
        return None
    if min_ready <= 0:
        return 0.0
    return max(0.0, min_ready - seconds_since(ready.last_transition_time, moment))
