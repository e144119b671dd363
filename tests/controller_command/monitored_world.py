"""An embedded cluster and a real operator that shows its metrics, with troubles to order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from process_world import ADDRESS, Running, WritingCluster, running, until

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.modelserving.api import MODEL_SERVING
from kohort.apis.served import APIS
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import Unavailable
from kohort.cluster.kinds import POD
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, PatchType, Selection, WatchEvent
from kohort.controller.install import InstallOptions, install_definitions
from kohort.simulator.embedded import Embedded, EmbeddedOptions
from kohort.simulator.stages import PULL_ERROR

MS = MODEL_SERVING.kind
LWS = LEADER_WORKER_SET.kind
KEY = ("default", "x")


class TroubledCluster(WritingCluster):
    """A client whose watches of nodes can fail, and whose writes can hang."""

    has_watches = True
    has_writes = True

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        async for change in super().watch(selection, version, initial=initial):
            if not self.has_watches:
                raise Unavailable("the connection was lost")
            yield change

    async def create(self, kind: Any, namespace: str, obj: Any) -> Any:
        await self._pass()
        return await super().create(kind, namespace, obj)

    async def patch(self, address: Address, *args: Any, **options: Any) -> Any:
        await self._pass()
        return await super().patch(address, *args, **options)

    async def _pass(self) -> None:
        if not self.has_writes:
            await asyncio.Event().wait()


class Monitored:
    """A cluster with an operator in it."""

    def __init__(self, embedded: Embedded, one: Running) -> None:
        self._embedded = embedded
        self._one = one
        self._user = InProcessCluster(embedded.api)
        self._touches = 0

    @property
    def target(self) -> str:
        """The address of the metrics."""
        return f"127.0.0.1:{self._one.process.pages.ports[ADDRESS]}"

    async def create_serving(self) -> None:
        """A ModelServing that becomes ready."""
        await until(lambda: len(self._one.process.operators) == 2, self._one.task)
        await self._user.create(MS, "default", make_serving("engine:1"))
        await self._wait_until_done()

    async def lose_pod(self) -> None:
        """A worker is deleted, and its instance is made anew."""
        entry = self._find_uid("x-0-decode-0-0")
        await self._user.delete(Address(POD, "default", "x-0-decode-0-1"), grace=0)
        await until(lambda: self._find_uid("x-0-decode-0-0") not in ("", entry), self._one.task)
        await self._wait_until_measured("kohort_recovery_seconds_count")

    async def roll_out(self, image: str) -> None:
        """A new revision, which becomes ready."""
        await self._change(make_serving(image))
        await self._wait_until_done()

    async def roll_out_broken(self) -> None:
        """A new revision whose image does not exist."""
        await self._change(make_serving("engine:none", {PULL_ERROR: "manifest unknown"}))
        await until(lambda: self._has_condition("Blocked"), self._one.task)

    async def touch(self) -> None:
        """A change that gives the operator something to look at."""
        self._touches += 1
        await self._change({"metadata": {"annotations": {"touched": str(self._touches)}}})

    async def break_watches(self) -> None:
        """All watches of the operator fail with their next line."""
        self._one.cluster.has_watches = False
        await self.touch()

    async def hang_writes(self) -> None:
        """No write of the operator is answered, while there is more to do than it has workers."""
        self._one.cluster.has_watches, self._one.cluster.has_writes = True, False
        for number in range(20):
            body = make_lws(f"y{number}")
            await self._user.create(LWS, "default", body)

    async def end(self) -> None:
        """The operator ends, and its metrics with it."""
        self._one.task.cancel()
        await asyncio.gather(self._one.task, return_exceptions=True)

    async def _change(self, patch: Object) -> None:
        await self._user.patch(Address(MS, *KEY), patch, PatchType.MERGE)

    async def _wait_until_done(self) -> None:
        await until(self._is_done, self._one.task)

    async def _wait_until_measured(self, metric: str) -> None:
        async with asyncio.timeout(20):
            while metric not in (await self._one.read("/metrics"))[1]:
                await asyncio.sleep(0.05)

    def _find_uid(self, name: str) -> str:
        found = self._embedded.api.store.find("pods", ("default", name))
        return str(found.decode()["metadata"]["uid"]) if found else ""

    def _read(self) -> Object:
        found = self._embedded.api.store.find(MS.group_resource, KEY)
        return found.decode() if found else {}

    def _is_done(self) -> bool:
        obj = self._read()
        status = obj.get("status") or {}
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        counts = (status.get("availableReplicas"), status.get("updatedReplicas"))
        return is_seen and counts == (2, 2)

    def _has_condition(self, name: str) -> bool:
        conditions = (self._read().get("status") or {}).get("conditions") or ()
        return any(c["type"] == name and c["status"] == "True" for c in conditions)


def make_serving(image: str, annotations: dict[str, str] | None = None) -> Object:
    """Two groups with two roles each."""
    template = {
        "metadata": {"annotations": annotations or {}},
        "spec": {"containers": [{"name": "engine", "image": image}]},
    }
    roles = [
        {"name": name, "replicas": 1, "workerReplicas": 1}
        | {"entryTemplate": template, "workerTemplate": template}
        for name in ("prefill", "decode")
    ]
    spec = {"replicas": 2, "schedulerName": "default-scheduler", "template": {"roles": roles}}
    return _make(MS, "x", spec)


def make_lws(name: str) -> Object:
    """One group of one pod."""
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    worker = {"size": 1, "workerTemplate": template}
    return _make(LWS, name, {"replicas": 1, "leaderWorkerTemplate": worker})


def _make(kind: Kind, name: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}


@asynccontextmanager
async def monitored() -> AsyncIterator[Monitored]:
    """A quick cluster and its operator for two APIs; both end with the block."""
    served = (LEADER_WORKER_SET, MODEL_SERVING)
    embedded = await Embedded.start(EmbeddedOptions(token="t", speed=100.0, nodes=2, apis=APIS))
    try:
        await install_definitions(InProcessCluster(embedded.api), APIS, InstallOptions())
        options = {"install": False, "metrics_address": ADDRESS, "cluster": TroubledCluster}
        async with running(embedded.api, "a", apis=served, **options) as one:
            yield Monitored(embedded, one)
    finally:
        await embedded.stop()
