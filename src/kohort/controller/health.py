"""
The answers to the kubelet's liveness and readiness probes.

Alive: the work queue moves. A process whose keys are due for long while no plan ends is
stuck, even if its HTTP server answers. Ready: the caches have completed their first lists.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kohort.cluster.port import Selection
from kohort.controller.clock import Time
from kohort.controller.queue import WorkQueue

STUCK_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a probe succeeds, and the text that it shows."""

    is_good: bool
    text: str = "ok"


def judge_liveness(
    oldest_seconds: float, idle_seconds: float, limit: float = STUCK_SECONDS
) -> Health:
    """Alive, unless a due key has waited and no run has ended for longer than the limit."""
    if oldest_seconds > limit and idle_seconds > limit:
        return Health(
            False,
            f"a key has been due for {oldest_seconds:.0f} s, "
            f"and no plan has ended for {idle_seconds:.0f} s",
        )
    return Health(True)


def judge_readiness(unlisted: Iterable[Selection]) -> Health:
    """Ready when the caches have completed all first lists."""
    missing = dict.fromkeys(selection.kind.group_resource for selection in unlisted)
    return Health(False, f"not listed yet: {', '.join(missing)}") if missing else Health(True)


class Probe:
    """The liveness of one work queue over time."""

    def __init__(self, queue: WorkQueue[Any], time: Time, limit: float = STUCK_SECONDS) -> None:
        self._queue = queue
        self._time = time
        self._limit = limit
        self._started_at = time.elapsed()

    def liveness(self) -> Health:
        """Whether the queue still finishes keys."""
        since = self._queue.finished_at
        idle = self._time.elapsed() - (self._started_at if since is None else since)
        return judge_liveness(self._queue.oldest_seconds, idle, self._limit)
