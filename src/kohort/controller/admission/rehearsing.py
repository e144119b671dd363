"""
Whether members could be made again: asked of the server before any is given up.

Members are made by others, and the server lets nobody make them while our own
webhook does not answer. So before members are given up a create of one is
rehearsed, which stores nothing. While it fails nothing is given up; when it
succeeds again, those who make members are woken, since by then they may wait for
minutes before they try again.
"""

from dataclasses import dataclass

from kohort.apis.api import Api, Family, Rehearsal
from kohort.cluster.actions import Action, Create
from kohort.cluster.errors import AlreadyExists, BadRequest, Forbidden, Invalid, KohortError
from kohort.cluster.port import Cluster

SILENT_RECHECK_SECONDS = 5.0
# Members that have been missing for this long make us ask why.
LATE_SECONDS = 10.0
LATE_RECHECK_SECONDS = 30.0
# No wait is shorter: sums of times have rounding errors, and such a wait would never end.
MOMENT_SECONDS = 0.01

# Whoever refuses a member in such words was asked after our webhook had answered.
_ANSWERS = (AlreadyExists, BadRequest, Forbidden, Invalid)


@dataclass(slots=True)
class Doubt:
    """What is known of one workload's members; may be lost without harm."""

    is_whole: bool = False  # all members were there at the last look
    missing_since: float | None = None
    asked: float = 0.0
    is_silent: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to be in doubt about."""
        return self.is_whole and self.missing_since is None and not self.is_silent

    def recheck_seconds(self, elapsed: float) -> float | None:
        """When to look again without an event."""
        if self.is_silent:
            return SILENT_RECHECK_SECONDS
        if self.missing_since is None:
            return None
        left = self.missing_since + LATE_SECONDS - elapsed
        return max(left, MOMENT_SECONDS) if left > 0 else LATE_RECHECK_SECONDS

    def _is_due(self, elapsed: float) -> bool:
        if self.is_silent:
            return elapsed - self.asked >= SILENT_RECHECK_SECONDS
        if self.missing_since is None or elapsed - self.missing_since < LATE_SECONDS:
            return False
        return elapsed - max(self.asked, self.missing_since) >= LATE_SECONDS

    def should_ask(self, actions: tuple[Action, ...], elapsed: float) -> bool:
        """Whether anything depends on the answer now."""
        return any(disrupts(action) for action in actions) or self._is_due(elapsed)


class Rehearser:
    """Asks for the workloads of one API."""

    def __init__(self, api: Api, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster

    async def sift(
        self, family: Family, actions: tuple[Action, ...], doubt: Doubt, now: str, elapsed: float
    ) -> tuple[Action, ...]:
        """The actions that may be taken now."""
        if doubt.is_idle and not any(disrupts(action) for action in actions):
            return actions
        rehearsal = self._api.rehearse(family)
        if rehearsal is None:
            return actions
        wakers = self._api.wake(family, now)
        if not wakers:
            doubt.missing_since = None
        elif doubt.missing_since is None:
            doubt.missing_since = elapsed
        if doubt.should_ask(actions, elapsed):
            doubt.asked = elapsed
            was_silent, doubt.is_silent = doubt.is_silent, not await self._is_answered(rehearsal)
            if was_silent and not doubt.is_silent:
                return (*actions, *wakers)
        if doubt.is_silent:
            return tuple(action for action in actions if not disrupts(action))
        return actions

    async def _is_answered(self, rehearsal: Rehearsal) -> bool:
        try:
            answer = await self._cluster.rehearse(
                rehearsal.kind, rehearsal.namespace, rehearsal.obj
            )
        except _ANSWERS:
            return True
        except KohortError:
            return False
        return rehearsal.is_admitted(answer)


def disrupts(action: Action) -> bool:
    """Whether members go because of it and must be made again."""
    return not isinstance(action, Create) and action.disrupts
