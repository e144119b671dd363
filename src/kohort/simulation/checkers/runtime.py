"""
R3 and R4: who does not lead does not write, deletes name a uid, and failures are not hammered at.

R1, one look at a workload at a time, is watched where the operator is started.
"""

from collections import deque

from kohort.controller.lease import LEASE
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.faulty_cluster import Request
from kohort.simulator.kinds import POD

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
        """Look at a request before it is carried out."""
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
