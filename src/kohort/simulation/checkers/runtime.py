"""
R3 and R4: who does not lead does not write, deletes name a uid, and failures are not hammered at.

R1, one look at a workload at a time, is watched where the operator is started.
"""

from collections import deque

from kohort.controller.lease import LEASE
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.faulty_cluster import Request

REQUESTS_PER_MINUTE_MAX = 400


class Runtime(Checker):
    """The promises about requests."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._times: deque[float] = deque()
        self._elects = scene.scenario.replicas > 1

    def request(self, request: Request) -> None:
        """Look at a request before it is carried out."""
        if self._elects:
            self._check_lease(request)
        if request.verb == "delete" and not dict(request.options).get("uid"):
            self.breach(f"R3: {request.kind.name} {request.name} is deleted by name alone")
        now = self.scene.now()
        self._times.append(now)
        while self._times[0] < now - 60:
            self._times.popleft()
        if len(self._times) == REQUESTS_PER_MINUTE_MAX:
            self.breach(f"R4: {REQUESTS_PER_MINUTE_MAX} requests within a minute")

    def _check_lease(self, request: Request) -> None:
        if request.kind.name in ("Lease", "Event"):
            return
        for lease in self.truth.objects[LEASE].values():
            holder = (lease.get("spec") or {}).get("holderIdentity")
            if holder and holder != request.writer:
                self.breach(f"R3: {request.writer} writes, and {holder} leads")
