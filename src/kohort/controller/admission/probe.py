"""
Whether members could be made again: asked of the server before any is given up.

Members are made by others, and the server lets nobody make them while our own
webhook does not answer. So before members are given up one is created with
dryRun, which stores nothing. While it fails nothing is given up; when it
succeeds again, those who make members are woken, since by then they may wait for
minutes before they try again.

Members may also be missing because another client took away the label by which they are
watched: nobody sees them, and their names are taken. So a few of those that are missing for
long are read by name.
"""

from dataclasses import dataclass

from kohort.apis.api import AdmissionProbe, Api, Snapshot
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
class ProbeState:
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

    def is_late(self, elapsed: float) -> bool:
        """Whether members have been missing for so long, now or once more, that we ask why."""
        if self.is_silent:
            return elapsed - self.asked >= SILENT_RECHECK_SECONDS
        if self.missing_since is None or elapsed - self.missing_since < LATE_SECONDS:
            return False
        return elapsed - max(self.asked, self.missing_since) >= LATE_SECONDS

    def should_ask(self, actions: tuple[Action, ...], elapsed: float) -> bool:
        """Whether anything depends on the answer now."""
        return any(disrupts(action) for action in actions) or self.is_late(elapsed)


class AdmissionProber:
    """Asks for the workloads of one API."""

    def __init__(self, api: Api, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster

    async def sift(
        self,
        snapshot: Snapshot,
        actions: tuple[Action, ...],
        probe_state: ProbeState,
        now: str,
        elapsed: float,
    ) -> tuple[Action, ...]:
        """The actions that may be taken now."""
        if probe_state.is_idle and not any(disrupts(action) for action in actions):
            return actions
        probe = self._api.make_probe(snapshot)
        if probe is None:
            return actions
        wakers = self._api.wake(snapshot, now)
        if not wakers:
            probe_state.missing_since = None
        elif probe_state.missing_since is None:
            probe_state.missing_since = elapsed
        is_late = probe_state.is_late(elapsed)
        if probe_state.should_ask(actions, elapsed):
            probe_state.asked = elapsed
            was_silent, probe_state.is_silent = (
                probe_state.is_silent,
                not await self._is_answered(probe),
            )
            if was_silent and not probe_state.is_silent:
                return (*actions, *wakers)
        if probe_state.is_silent:
            return tuple(action for action in actions if not disrupts(action))
        return (*actions, *await self._restore(probe)) if is_late else actions

    async def _restore(self, probe: AdmissionProbe) -> list[Action]:
        found: list[Action] = []
        for member in probe.missing():
            try:
                found += member.restore(await self._cluster.read(member.address))
            except KohortError:
                # It is not there, or nobody can say: then it is simply missing.
                continue
        return found

    async def _is_answered(self, probe: AdmissionProbe) -> bool:
        try:
            answer = await self._cluster.dry_run_create(probe.kind, probe.namespace, probe.obj)
        except _ANSWERS:
            return True
        except KohortError:
            return False
        return probe.is_admitted(answer)


def disrupts(action: Action) -> bool:
    """Whether members go because of it and must be made again."""
    return not isinstance(action, Create) and action.disrupts
