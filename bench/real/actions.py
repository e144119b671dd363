"""
Acts: what is done to the operator, and what is then seen.

Seconds count from the first call of an act. What it cost is counted until the operator
is quiet again, so that work which is put off is no gain.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.real.costs import Meter
from bench.real.server import Refused, Server, at_once
from bench.real.sightings import Sight, Where
from bench.workloads import SIZE, BenchApi

LOST = 10
SECONDS_MAX = 300.0
RECOVERY_SECONDS_MAX = 60.0
QUIET_SECONDS = 2.0
_QUIET_SECONDS_MAX = 20.0
_BUSY_CPU_SECONDS = 0.02
_QUIET_SERVER_SECONDS_MAX = 60.0
_BUSY_SERVER_CPU_SECONDS = 0.3  # in two seconds; watches and leases of nodes take a part of it
Marks = dict[str, Callable[[], bool]]


@dataclass
class BenchSite:
    """Where acts are played."""

    server: Server
    sight: Sight
    meter: Meter
    api: BenchApi
    rest_seconds: float = 60.0
    seconds_max: float = SECONDS_MAX
    _turn: int = field(default=0)

    async def create(self, names: list[str], groups: int) -> dict[str, Any]:
        """Make workloads of so many groups, in a namespace of their own, named after the first."""
        space = f"bench-{names[0]}"
        await self._make_namespace(space)
        pods = len(names) * groups * SIZE
        seen = self.sight
        bodies = [self.api.make(name, groups) for name in names]
        for body in bodies:
            body["metadata"]["namespace"] = space
        path = self.api.path_in(space)
        marks: Marks = {
            "created_s": lambda: seen.present[space] >= pods,
            "ready_s": lambda: seen.ready[space] >= pods,
            "status_s": lambda: all(seen.done.get((space, name)) for name in names),
        }

        async def action() -> None:
            await at_once(
                [lambda body=body: self.server.ask("POST", path, body) for body in bodies]
            )

        return {"objects": len(names), "groups": groups, **await self._run(action, marks)}

    async def roll_out(self, where: Where, groups: int) -> dict[str, Any]:
        """Give a workload another image."""
        self._turn += 1
        image = f"engine:{self._turn + 1}"
        seen = self.sight
        seen.fewest[where] = seen.serving[where]

        def is_updated() -> bool:
            if seen.serving[where] < groups or seen.present[where[0]] != groups * SIZE:
                return False
            return all(p.image == image for p in seen.pods.values() if p.where[0] == where[0])

        marks: Marks = {"ready_s": is_updated, "status_s": lambda: seen.done.get(where, False)}

        async def action() -> None:
            await self.server.ask("PATCH", self.api.path_in(*where), self.api.edit_image(image))

        found = await self._run(action, marks)
        return {**found, "fewest_ready": seen.fewest[where], "asked": groups - groups // 10}

    async def recover(self, where: Where, groups: int) -> dict[str, Any]:
        """
        Delete one worker in each of some groups.

        All pods of these groups are to be made anew, or those alone where the API says so.
        """
        seen = self.sight
        mine = [pod for pod in seen.pods.values() if (pod.where[0], pod.workload) == where]
        hit = sorted({pod.group for pod in mine}, key=lambda group: (len(group), group))[:LOST]
        old = {pod.uid for pod in mine if pod.group in hit}
        # The last pod of a group by its name leads none.
        victims = [max((p for p in mine if p.group == one), key=lambda p: p.where) for one in hit]
        if not self.api.restarts_groups:
            old = {pod.uid for pod in victims}
        seen.fewest[where] = seen.serving[where]

        def is_new() -> bool:
            if seen.serving[where] < groups or seen.present[where[0]] != groups * SIZE:
                return False
            return not any(pod.uid in old for pod in seen.pods.values())

        marks: Marks = {"ready_s": is_new, "status_s": lambda: seen.done.get(where, False)}

        async def action() -> None:
            paths = [f"/api/v1/namespaces/{p.where[0]}/pods/{p.where[1]}" for p in victims]
            await at_once([lambda path=path: self.server.ask("DELETE", path) for path in paths])

        found = await self._run(action, marks, RECOVERY_SECONDS_MAX)
        left = sum(pod.uid in old for pod in seen.pods.values())
        return {**found, "fewest_ready": seen.fewest[where], "old_pods_left": left}

    async def rest(self) -> dict[str, Any]:
        """Do nothing for a while."""
        await self.meter.start()
        await asyncio.sleep(self.rest_seconds)
        found = {"objects": len(self.sight.done), "pods": len(self.sight.pods)}
        return {**found, "seconds": self.rest_seconds, **await self.meter.read()}

    async def settle_server(self) -> None:
        """
        Return when the API server has been quiet for a moment.

        It publishes new definitions for seconds after it serves them, the longer the larger they
        are; that is the price of an installation, not of the operator.
        """
        await _settle(self.meter.server_cpu, _BUSY_SERVER_CPU_SECONDS, _QUIET_SERVER_SECONDS_MAX)

    async def settle(self) -> None:
        """Return when the operator has been quiet for a moment."""
        await _settle(self.meter.operator_cpu, _BUSY_CPU_SECONDS, _QUIET_SECONDS_MAX)

    async def _run(
        self, action: Callable[[], Any], marks: Marks, seconds: float = 0.0
    ) -> dict[str, Any]:
        """Act, note when each mark was passed in its order, and what it cost."""
        await self.meter.start()
        made, reached = self.sight.made, dict[str, float]()
        began = time.monotonic()
        acting = asyncio.create_task(action())

        def is_done() -> bool:
            for name, holds in marks.items():
                if name not in reached:
                    if not holds():
                        return False
                    reached[name] = round(time.monotonic() - began, 2)
            return True

        # What was true before the act is no answer to it.
        await acting
        done = await self.sight.wait(is_done, seconds or self.seconds_max)
        await self.settle()
        spent = await self.meter.read()
        return {"done": done, **reached, "pods_made": self.sight.made - made, **spent}

    async def _make_namespace(self, name: str) -> None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await self.server.ask("POST", "/api/v1/namespaces", body)
        for _ in range(100):
            try:
                await self.server.read(f"/api/v1/namespaces/{name}/serviceaccounts/default")
                return
            except Refused:
                await asyncio.sleep(0.1)
        raise TimeoutError(f"the namespace {name} never got its account")


async def _settle(read_cpu: Callable[[], float], busy_seconds: float, seconds_max: float) -> None:
    """Return when little CPU time was used for a while, or at the latest after so long."""
    used, since = read_cpu(), time.monotonic()
    end = since + seconds_max
    while time.monotonic() < min(end, since + QUIET_SECONDS):
        await asyncio.sleep(0.25)
        now = read_cpu()
        if now - used > busy_seconds:
            used, since = now, time.monotonic()
