"""
R3 and R4: only the leader writes, deletes name a uid, and requests per minute are bounded.

R1, one reconcile of a workload at a time, is checked in ``operator_processes``.
"""

from collections import deque

from kohort.cluster.kinds import LEASE, POD
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.faulty_cluster import Request

REQUESTS_PER_MINUTE_MAX = 400
# Five templates within a minute may make each pod anew as often, with all that belongs to it.
REQUESTS_PER_POD_MAX = 20


class Runtime(Checker):
    """The promises about requests."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._times: deque[float] = deque()
        self._pods = 0  # so many there have been at once
        self._elects = scene.scenario.replicas > 1

    def request(self, request: Request) -> None:
        """Check a request of the operator before the API server gets it."""
        if self._elects:
            self._check_lease(request)
        if request.verb == "delete" and not dict(request.options).get("uid"):
            self.breach(f"R3: {request.kind.name} {request.name} is deleted by name alone")
        now = self.scene.now()
        self._times.append(now)
        while self._times[0] < now - 60:
            self._times.popleft()
        self._pods = max(self._pods, len(self.truth.objects[POD]))
        most = max(REQUESTS_PER_MINUTE_MAX, REQUESTS_PER_POD_MAX * self._pods)
        if len(self._times) == most:
            self.breach(f"R4: {most} requests within a minute")

    def _check_lease(self, request: Request) -> None:
        if request.kind.name in ("Lease", "Event"):
            return
        for lease in self.truth.objects[LEASE].values():
            holder = (lease.get("spec") or {}).get("holderIdentity")
            if holder and holder != request.writer:
                self.breach(f"R3: {request.writer} writes, and {holder} leads")
