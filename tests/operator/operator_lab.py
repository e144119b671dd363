"""
A laboratory: the whole control plane and the operator in virtual time, and short words for both.

The operator is the real one, on the in-process cluster. Nothing waits for a wall
clock: when neither the event loop nor a part has anything to do, time moves to
the next moment that somebody asked for.
"""

import asyncio
import copy
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from heapq import heappop, heappush
from random import Random
from typing import Any

import orjson

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import DeleteOptions, Patch, Target, WriteOptions
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster import kinds
from kohort.cluster.errors import InternalError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType, Selection, WatchEvent
from kohort.controller.api_controller import ControllerContext
from kohort.controller.install.webhooks import Endpoint, write_definitions
from kohort.controller.operator import Operator
from kohort.simulator.api_admission import ApiAdmission, ApiConversions
from kohort.simulator.builtins import builtin_parts
from kohort.simulator.clock import VirtualClock
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.embedded.model_agent import ModelAgent
from kohort.simulator.kubelet import Kubelet
from kohort.simulator.nodes import NodeMake, Nodes
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.stages import KubeletStages
from kohort.simulator.world import World
from kohort.simulator.world.component_runner import ComponentRunner

START = datetime(2026, 1, 1, tzinfo=UTC)
LWS = LEADER_WORKER_SET.kind
KINDS = {k.name: k for k in (LWS, kinds.NODE, kinds.CONTROLLER_REVISION, kinds.NAMESPACE)}
WRITES = ("create", "update", "patch", "delete")


class VirtualTime:
    """The operator's time: passes only when the laboratory lets it."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.timers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        return self.clock.now()

    def elapsed(self) -> float:
        return self.clock.elapsed()

    async def sleep(self, seconds: float) -> None:
        await self._timer(seconds)

    async def wait(self, event: asyncio.Event, seconds: float | None) -> None:
        waiter = asyncio.ensure_future(event.wait())
        sides: set[asyncio.Future[Any]] = {waiter}
        if seconds is not None:
            sides.add(self._timer(seconds))
        try:
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for side in sides:
                side.cancel()

    def _timer(self, seconds: float) -> asyncio.Future[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self.timers, (self.elapsed() + seconds, self._count, future))
        return future

    def ring(self) -> None:
        while self.timers and self.timers[0][0] <= self.elapsed():
            future = heappop(self.timers)[2]
            if not future.done():
                future.set_result(None)

    def next_due(self) -> float | None:
        while self.timers and self.timers[0][2].done():
            heappop(self.timers)
        return self.timers[0][0] if self.timers else None


class SilentAdmission(NoAdmission):
    """A webhook for pods that does not answer."""

    def concerns(self, operation: str, target: Target) -> bool:
        return operation == "CREATE" and target.resource.kind == kinds.POD

    async def mutate(self, review: Review) -> Object:
        labels = review.obj["metadata"].get("labels", {}) if review.obj else {}
        is_ours = "leaderworkerset.sigs.k8s.io/name" in labels
        if is_ours and labels.get("kohort.dev/carrier") != "pods":
            raise InternalError('failed calling webhook "mpod.kb.io": connection refused')
        return await super().mutate(review)


class CountingCluster(InProcessCluster):
    """Counts what the operator asks for, and can kill it after a number of writes."""

    def __init__(self, api: ApiServer) -> None:
        super().__init__(api, bookmark_seconds=None)
        self.tried: Counter[tuple[str, str]] = Counter()
        self.writes: Counter[tuple[str, str]] = Counter()  # those that succeeded
        self.left: int | None = None  # writes until the controller dies
        self.is_dead = False
        self.held: set[str] = set()  # kinds whose changes do not arrive
        self._released = asyncio.Event()

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in WRITES:
            return method

        async def call(target: Any, *args: Any, **options: Any) -> Any:
            if self.is_dead:
                await asyncio.Event().wait()
            kind = target if isinstance(target, Kind) else target.kind
            part = "" if isinstance(target, Kind) else target.part
            what = name, f"{kind.name}/{part}" if part else kind.name
            self.tried[what] += 1
            answer = await method(target, *args, **options)
            self.writes[what] += 1
            self._spend()
            return answer

        return call

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        async for change in super().watch(selection, version, initial=initial):
            while selection.kind.name in self.held:
                await self._released.wait()
            yield change

    def hold(self, *names: str) -> None:
        """Let the caches of these kinds fall behind."""
        self.held.update(names)
        self._released.clear()

    def release(self) -> None:
        """Let all that was held back arrive."""
        self.held.clear()
        self._released.set()

    def _spend(self) -> None:
        if self.left is not None:
            self.left -= 1
            self.is_dead = self.left <= 0


class Lab:
    """A cluster with an operator, in virtual time."""

    def __init__(
        self,
        settings: Settings = DEFAULTS,
        gates: frozenset[str] = frozenset(),
        stages: KubeletStages = KubeletStages(),  # noqa: B008
        apis: Sequence[Api] = (LEADER_WORKER_SET,),
    ) -> None:
        self.apis = apis
        self.settings = settings
        self.stages = stages
        self.clock = VirtualClock(START)
        self.time = VirtualTime(self.clock)
        registry = Registry(builtin_resources(gates))
        self.api = ApiServer(Store(), registry, self.clock.now, Random(1))
        self.gates = gates
        self.cluster: CountingCluster
        self._task: asyncio.Task[None] | None = None
        self._held_components: dict[str, Any] = {}
        self.namespace = "default"

    async def open(self, nodes: int = 8, gpus: int = 8, *, operator: bool = True) -> "Lab":
        await bootstrap(self.api, NodeMake(nodes, 2, gpus))
        self.api.context.ask_webhook = ApiConversions(self.apis).ask
        for definition in write_definitions(self.apis, Endpoint()):
            await self.api.create(self.api.target(kinds.DEFINITION), definition, WriteOptions())
        self.mend_webhooks()
        stands_in_for = [api.scheduler for api in self.apis if api.scheduler]
        scheduler = Scheduler(stands_in_for=stands_in_for)
        parts = [
            *builtin_parts(gates=self.gates),
            scheduler,
            Kubelet(self.stages),
            Nodes(),
            ModelAgent(),
        ]
        self.world = World(self.api, parts, self.clock)
        if operator:
            self.start_operator()
        return self

    def start_operator(self) -> None:
        self.cluster = CountingCluster(self.api)
        context = ControllerContext(self.cluster, self.time, Random(1), self.settings)
        self.operator = Operator(context, self.apis)
        self._task = asyncio.ensure_future(self.operator.run())

    async def stop_operator(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def close(self) -> None:
        await self.stop_operator()

    def remove_webhooks(self) -> None:
        """Nobody asks us any more: pods are made without our marks."""
        self.api.context.admission = NoAdmission()

    def break_webhooks(self) -> None:
        """Our webhook does not answer: pods are not made at all."""
        self.api.context.admission = SilentAdmission()

    def mend_webhooks(self) -> None:
        """Our webhook answers again."""
        context = self.api.context
        context.admission = ApiAdmission(self.apis, self.settings, find=context.find_objects)

    def hold_component(self, runner: ComponentRunner) -> None:
        """Let one part of the control plane see nothing new, and do nothing."""
        self._held_components[runner.component.name] = runner.deliver, runner.count_due
        runner.deliver = lambda *most: False  # type: ignore[method-assign]
        runner.count_due = lambda elapsed: 0  # type: ignore[method-assign]

    def release_component(self, runner: ComponentRunner) -> None:
        """Let it see all that has happened."""
        runner.deliver, runner.count_due = self._held_components.pop(runner.component.name)  # type: ignore[method-assign]

    async def settle(self) -> None:
        """Let everybody act until nobody has anything to do at this moment."""
        loop = asyncio.get_running_loop()
        while True:
            before = self.api.store.revision
            await self.world.settle()
            for _ in range(1000):
                await asyncio.sleep(0)
                if not loop._ready:  # type: ignore[attr-defined]
                    break
            if self._task is not None and self._task.done():
                self._task.result()
            if self.api.store.revision == before and not self._has_work():
                return

    def _has_work(self) -> bool:
        free = [s for s in self.world.runners if s.component.name not in self._held_components]
        return any(runner.has_work for runner in free)

    async def run(self, seconds: float) -> None:
        """Let virtual time pass, from one moment that matters to the next."""
        end = self.clock.elapsed() + seconds
        while True:
            await self.settle()
            times = [t for t in (self._next_due(), self.time.next_due()) if t is not None]
            due = min(times, default=end)
            if due > end:
                break
            if due <= self.clock.elapsed() and not times:
                break
            self.clock.advance(max(0.0, due - self.clock.elapsed()))
            self.time.ring()
            if due >= end:
                break
        await self.settle()
        self.clock.advance(max(0.0, end - self.clock.elapsed()))

    def _next_due(self) -> float | None:
        free = [s for s in self.world.runners if s.component.name not in self._held_components]
        return min((t for runner in free if (t := runner.next_due()) is not None), default=None)

    async def until(self, claim: Callable[[], bool], seconds: float = 600.0) -> None:
        """Let time pass until something holds."""
        end = self.clock.elapsed() + seconds
        while not claim():
            assert self.clock.elapsed() < end, "it never happened"
            await self.run(1.0)

    # What a user does.

    async def apply(self, obj: Object) -> Object:
        kind = KINDS.get(obj["kind"]) or self._find_kind(obj)
        target = self.api.target(kind, self.namespace if kind.namespaced else "")
        answer = await self.api.create(target, copy.deepcopy(obj), WriteOptions(manager="user"))
        made: Object = orjson.loads(answer.raw)
        return made

    def _find_kind(self, obj: Object) -> Kind:
        found = (resource.kind for resource in self.api.registry.resources())
        wanted = obj["apiVersion"], obj["kind"]
        return next(kind for kind in found if (kind.api_version, kind.name) == wanted)

    async def edit(self, name: str, *operations: Object, kind: Kind = LWS) -> None:
        target = self.api.target(kind, self.namespace if kind.namespaced else "", name)
        await self.api.patch(target, Patch(PatchType.JSON, list(operations)), WriteOptions())

    async def delete(self, kind: Kind, name: str, **options: Any) -> None:
        target = self.api.target(kind, self.namespace, name)
        await self.api.delete(target, DeleteOptions(**options))

    # What can be seen.

    def all(self, kind: Kind) -> list[Object]:
        entries = self.api.store.bucket(self.api.registry.of(kind).bucket).entries.values()
        return [entry.decode() for entry in entries if entry.namespace in (self.namespace, "")]

    def find(self, kind: Kind, name: str) -> Object | None:
        found = self.api.context.find(self.api.target(kind, self.namespace, name))
        return found.decode() if found else None

    def lws(self, name: str = "x") -> Object:
        found = self.find(LWS, name)
        assert found is not None
        return found

    def is_available(self, name: str = "x") -> bool:
        lws = self.lws(name)
        status = lws.get("status") or {}
        fresh = status.get("observedGeneration") == lws["metadata"]["generation"]
        true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
        return fresh and "Available" in true and "UpdateInProgress" not in true


def set_image(image: str) -> Object:
    path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
    return {"op": "replace", "path": path, "value": image}


def set_replicas(count: int) -> Object:
    return {"op": "replace", "path": "/spec/replicas", "value": count}


def make_lws(name: str = "x", groups: int = 2, size: int = 3, **more: Any) -> Object:
    """A LeaderWorkerSet; ``more`` may hold rollout, template, spec and annotations."""
    container = {"name": "engine", "image": "engine:1", **more.get("container", {})}
    template = {
        "size": size,
        "workerTemplate": {"spec": {"containers": [container], **more.get("pod", {})}},
        **more.get("template", {}),
    }
    spec: Object = {"replicas": groups, "leaderWorkerTemplate": template, **more.get("spec", {})}
    if "rollout" in more:
        spec["rolloutStrategy"] = {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": more["rollout"],
        }
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "annotations": more.get("annotations", {})},
        "spec": spec,
    }
