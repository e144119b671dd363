"""
The admission probe: before the operator deletes pods, it asks whether pods can be created.

Other controllers, such as the StatefulSet controller, create the pods, and the API server
refuses every pod while our own webhook does not answer. So before the operator deletes pods
it creates one with dryRun, which stores nothing. While that fails it deletes none; when it
succeeds again, the operator wakes the controllers that create pods, since their backoff may
have grown to minutes.

Pods may also be missing because another client removed the label by which our cache selects
them: the cache does not show them, and their names are taken. So the operator reads a few of the
pods that are missing for long by name.
"""

from dataclasses import dataclass

from kohort.apis.api import AdmissionProbe, Api, Snapshot
from kohort.cluster.actions import Action, Create
from kohort.cluster.errors import AlreadyExists, BadRequest, Forbidden, Invalid, KohortError
from kohort.cluster.port import Cluster

SILENT_RECHECK_SECONDS = 5.0
# After members have been missing for this long, the operator probes why.
LATE_SECONDS = 10.0
LATE_RECHECK_SECONDS = 30.0
# The shortest wait: a smaller one may be lost to rounding errors and repeat without end.
MOMENT_SECONDS = 0.01

# The API server gives these errors only after our webhook has answered.
_ANSWERS = (AlreadyExists, BadRequest, Forbidden, Invalid)


@dataclass(slots=True)
class ProbeState:
    """The state of the probe for one workload; a restart may lose it safely."""

    is_whole: bool = False  # all members existed at the last reconcile
    missing_since: float | None = None
    asked: float = 0.0
    is_silent: bool = False

    @property
    def is_idle(self) -> bool:
        """Whether no member is missing and the last probe did not fail."""
        return self.is_whole and self.missing_since is None and not self.is_silent

    def recheck_seconds(self, elapsed: float) -> float | None:
        """Seconds until the next reconcile is due without an event; None if none is."""
        if self.is_silent:
            return SILENT_RECHECK_SECONDS
        if self.missing_since is None:
            return None
        left = self.missing_since + LATE_SECONDS - elapsed
        return max(left, MOMENT_SECONDS) if left > 0 else LATE_RECHECK_SECONDS

    def is_late(self, elapsed: float) -> bool:
        """Whether members are missing, or the probe has failed, for so long that it is due."""
        if self.is_silent:
            return elapsed - self.asked >= SILENT_RECHECK_SECONDS
        if self.missing_since is None or elapsed - self.missing_since < LATE_SECONDS:
            return False
        return elapsed - max(self.asked, self.missing_since) >= LATE_SECONDS

    def should_ask(self, actions: tuple[Action, ...], elapsed: float) -> bool:
        """Whether to probe now: an action deletes members, or members are late."""
        return any(disrupts(action) for action in actions) or self.is_late(elapsed)


class AdmissionProber:
    """Probes admission for the workloads of one API."""

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
        """The actions to take now: while the probe fails, none that deletes members."""
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
                # The pod does not exist, or the read failed: it counts as missing.
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
    """Whether the action deletes members that a controller has to create again."""
    return not isinstance(action, Create) and action.disrupts
