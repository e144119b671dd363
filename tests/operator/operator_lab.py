"""
A laboratory: the whole control plane and the operator in virtual time, and short words for both.

It stands on what the simulation stands on: the virtual event loop, on which every test of
this folder runs, the clocks of that loop, and a prepared cluster that each laboratory copies.
The operator is the real one, on the in-process cluster; it and the control plane run as tasks.
What a simulation draws from a seed, a test says itself: which writes kill the operator, whose
events are held back, which component stands still. Time moves only in ``run`` and ``until``;
before a test looks at the cluster, all tasks have done what they can do at that moment.
"""

import asyncio
import copy
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any

import orjson

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.admission import NoAdmission, Review
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, Target, WriteOptions
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster import kinds
from kohort.cluster.errors import InternalError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType, Selection, WatchEvent
from kohort.controller.api_controller import ControllerContext
from kohort.controller.install.webhooks import Endpoint, write_definitions
from kohort.controller.operator import Operator
from kohort.simulation.operator_processes import OperatorTime
from kohort.simulation.prepared_cluster import PreparedCluster
from kohort.simulation.virtual_loop import LoopClock, VirtualLoop
from kohort.simulator.api_admission import ApiAdmission, ApiConversions
from kohort.simulator.builtins import builtin_parts
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.embedded.model_agent import ModelAgent
from kohort.simulator.kubelet import Kubelet
from kohort.simulator.nodes import NodeMake, Nodes
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.stages import KubeletStages
from kohort.simulator.world import World
from kohort.simulator.world.component_runner import ComponentRunner

LWS = LEADER_WORKER_SET.kind
KINDS = {k.name: k for k in (LWS, kinds.NODE, kinds.CONTROLLER_REVISION, kinds.NAMESPACE)}
WRITES = ("create", "update", "patch", "delete")

# The clusters that tests of this process began with, each with the APIs that it serves.
_prepared: dict[Any, tuple[Sequence[Api], PreparedCluster]] = {}


class HeldRunner(ComponentRunner):
    """The runner of a component that sees nothing new, and does nothing."""

    is_awaited = False
    has_work = False

    def count_due(self, elapsed: float) -> int:
        return 0

    def next_due(self) -> float | None:
        return None


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
        self.gates = gates
        self.cluster: CountingCluster
        self._task: asyncio.Task[None] | None = None
        self._world_task: asyncio.Task[None] | None = None
        self.namespace = "default"

    async def open(self, nodes: int = 8, gpus: int = 8, *, operator: bool = True) -> "Lab":
        # Each laboratory begins at START, the second of a test too, for its objects were made then.
        # Timestamps have whole seconds, so it begins with one.
        loop = _get_loop()
        await asyncio.sleep(-loop.time() % 1.0)
        begun = round(loop.time())
        self.clock = LoopClock(loop, begun)
        self.time = OperatorTime()
        self.time.jump = timedelta(seconds=-begun)
        prepared = await self._prepare(NodeMake(nodes, 2, gpus))
        self.api = prepared.open(ApiServer, self.clock, seed=1)
        self.api.context.ask_webhook = ApiConversions(self.apis).ask
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
        self._world_task = asyncio.ensure_future(self.world.run())
        if operator:
            self.start_operator()
        return self

    async def _prepare(self, make: NodeMake) -> PreparedCluster:
        async def fill(api: ApiServer) -> None:
            await bootstrap(api, make)
            api.context.ask_webhook = ApiConversions(self.apis).ask
            for definition in write_definitions(self.apis, Endpoint()):
                await api.create(api.target(kinds.DEFINITION), definition, WriteOptions())

        # An API has no equal: it is known by its identity, which lasts as long as it is kept.
        key = tuple(map(id, self.apis)), self.gates, make
        if key not in _prepared:
            prepared = await PreparedCluster.prepare(self.clock, fill, self.gates)
            _prepared[key] = self.apis, prepared
        return _prepared[key][1]

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
        if self._world_task is not None:
            self._world_task.cancel()
            await asyncio.gather(self._world_task, return_exceptions=True)

    def remove_webhooks(self) -> None:
        """The API server no longer calls our webhook: pods are made without our marks."""
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
        runner.__class__ = HeldRunner

    def release_component(self, runner: ComponentRunner) -> None:
        """Let it see all that has happened."""
        runner.__class__ = ComponentRunner
        self.world.wake()

    async def settle(self) -> None:
        """Let operator and components act until none has anything to do at this moment."""
        await _get_loop().rest()
        for task in (self._world_task, self._task):
            if task is not None and task.done():
                task.result()

    async def run(self, seconds: float) -> None:
        """Let virtual time pass, from one moment that matters to the next."""
        await self.settle()
        await asyncio.sleep(seconds)
        await self.settle()

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
        await self.api.patch(target, PatchBody(PatchType.JSON, list(operations)), WriteOptions())

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


def _get_loop() -> VirtualLoop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop


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
