"""
The harness: a whole cluster, the unchanged operator, the truth about both, in virtual time.

A cluster is prepared once for all simulations of a process and copied for each. Its API
server may refuse to bind pods, so that a gang which the scheduler placed whole arrives by halves.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from kohort.apiserver.api.admission import Review
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.requests import (
    Answer,
    DeleteOptions,
    PatchBody,
    Target,
    User,
    WriteOptions,
)
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError, Forbidden, InternalError
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType
from kohort.simulation.checkers.gang_dialects import KINDS as GANG_KINDS
from kohort.simulation.checkers.truth import IS_USER, Marks, Truth
from kohort.simulation.choices import Choices
from kohort.simulation.faulty_cluster import Trouble
from kohort.simulation.gang_clusters import MAKE, create_gang_prerequisites, set_gang_flag
from kohort.simulation.operator_processes import OperatorProcess, OperatorTime, Surroundings
from kohort.simulation.prepared_cluster import PreparedCluster
from kohort.simulation.scenario import BUDGETED, NAME, NAMESPACE, PODS, STRATEGY, Scenario
from kohort.simulation.simulated_api import OperatorVersion, SimulatedApi
from kohort.simulation.virtual_loop import LoopClock
from kohort.simulator.api_admission import ApiAdmission
from kohort.simulator.builtins.autoscalers.controller import Autoscalers
from kohort.simulator.builtins.garbage import GarbageCollector
from kohort.simulator.builtins.statefulsets.controller import StatefulSets
from kohort.simulator.builtins.volumes import Volumes
from kohort.simulator.component import Component
from kohort.simulator.embedded.bootstrap import bootstrap
from kohort.simulator.kubelet import Kubelet
from kohort.simulator.nodes import NodeMake, Nodes
from kohort.simulator.scheduling.scheduler import Scheduler
from kohort.simulator.stages import KubeletStages
from kohort.simulator.world import World


class BindingApi(ApiServer):
    """The API of a simulation; of the binds that come, some are refused if that is asked for."""

    refused_each = 0  # of so many binds the last is refused; 0: none
    _binds = 0

    async def create(
        self, target: Target, body: Object, options: WriteOptions, *, raw: bytes | None = None
    ) -> Answer:
        """Make an object, or bind a pod, if nothing goes wrong."""
        if target.subresource == "binding" and self.refused_each:
            self._binds += 1
            if self._binds % self.refused_each == 0:
                raise InternalError("etcdserver: request timed out")
        return await super().create(target, body, options, raw=raw)


NODES = 3
USER = WriteOptions(manager="user")
TRIES_MAX = 60


class Gate(ApiAdmission):
    """The operator's webhooks, which may be down; then the API server refuses the write."""

    down_since: float | None = None  # None: it answers
    is_full = False  # a quota has no room for pods

    async def mutate(self, review: Review) -> Object:
        """The object as our webhooks change it."""
        self._refuse(review, mutates=True)
        return await super().mutate(review)

    async def validate(self, review: Review) -> None:
        """Whether our webhooks take it."""
        self._refuse(review, mutates=False)
        await super().validate(review)

    def take_over(self, version: OperatorVersion) -> None:
        """Answer as another version of the operator does."""
        self._settings = version.settings

    def _refuse(self, review: Review, *, mutates: bool) -> None:
        if self.down_since is not None and self._asked(review, mutates=mutates):
            raise InternalError("failed calling webhook: connection refused")
        is_pod = review.target.resource.kind == kinds.POD and not review.target.subresource
        if self.is_full and mutates and is_pod and review.operation == "CREATE":
            raise Forbidden("pods is forbidden: exceeded quota: gpus")


_prepared: dict[tuple[str, bool], PreparedCluster] = {}  # by API, with gangs and without


async def _prepare_cluster(
    clock: LoopClock, simulated: SimulatedApi, *, has_gangs: bool
) -> PreparedCluster:
    async def fill(api: ApiServer) -> None:
        await bootstrap(api, MAKE if has_gangs else NodeMake(NODES, 1, 8))
        for served in simulated.versions.present.apis:
            for define in served.definitions:
                await api.create(api.target(kinds.DEFINITION), define(), WriteOptions())
        if has_gangs:
            await create_gang_prerequisites(api)

    key = simulated.name, has_gangs
    if key not in _prepared:
        _prepared[key] = await PreparedCluster.prepare(clock, fill)
    return _prepared[key]


class Harness:
    """The cluster of one simulation, and ways to change it."""

    def __init__(
        self,
        scenario: Scenario,
        simulated: SimulatedApi,
        prepared: PreparedCluster,
        clock: LoopClock,
    ) -> None:
        self.scenario = scenario
        self.simulated = simulated
        self.clock = clock
        self.breaches: list[str] = []
        self.order = Choices(scenario.seed).fork("order")
        self.api = prepared.open(BindingApi, clock, scenario.seed)
        self._told = scenario.gang
        version = self._with_gangs(
            simulated.versions.before if scenario.has("upgrade") else simulated.versions.present
        )
        self.gate = Gate(version.apis, version.settings, find=self.api.context.find_objects)
        self.api.context.admission = self.gate
        self.kubelet = Kubelet(KubeletStages(), emits=False)
        self.world = World(self.api, self._parts(), clock, records=False)
        self.truth = Truth(
            self.api,
            simulated,
            clock.elapsed,
            Marks(simulated.labels, trusts_labels=scenario.carrier == PODS),
            more=GANG_KINDS if scenario.gang else (),
        )
        self.time = OperatorTime()
        self.trouble = Trouble(scenario.faults, self.order, scenario.latency)
        self._around = around = Surroundings(
            self.api, self.trouble, self.time, version, scenario.seed, self.breach, self.truth.views
        )
        elects = scenario.replicas > 1
        self.candidates = [
            OperatorProcess(n, around, elects=elects) for n in range(scenario.replicas)
        ]
        self._tasks: list[asyncio.Future[None]] = []

    @classmethod
    async def open(cls, scenario: Scenario, simulated: SimulatedApi) -> "Harness":
        """Make the harness; neither operator nor components act yet."""
        clock = LoopClock(asyncio.get_running_loop())
        prepared = await _prepare_cluster(clock, simulated, has_gangs=bool(scenario.gang))
        return cls(scenario, simulated, prepared, clock)

    def _parts(self) -> list[Component]:
        volumes = [Volumes()] if self.scenario.claims else []
        autoscalers = [Autoscalers()] if self.scenario.has("metric") else []
        return [
            *autoscalers,
            *(make() for make in self.simulated.parts),
            StatefulSets(honours_max_unavailable=self.scenario.is_gated),
            GarbageCollector(),
            *volumes,
            Scheduler(),
            self.kubelet,
            Nodes(),
        ]

    def modernise(self) -> None:
        """From now on, processes that start are of another version of the operator."""
        self._around.version = self._with_gangs(self.simulated.versions.after)
        self.gate.take_over(self._around.version)

    def set_gangs(self, gangs: str) -> None:
        """From now on, processes that start are given these dialects."""
        self._told = gangs
        self._around.version = self._with_gangs(self._around.version)
        self.gate.take_over(self._around.version)

    def _with_gangs(self, version: OperatorVersion) -> OperatorVersion:
        return replace(version, settings=set_gang_flag(version.settings, self._told))

    def start(self) -> None:
        """Let the cluster and the operator act."""
        self._tasks = [asyncio.ensure_future(self.world.run())]
        self._tasks += [asyncio.ensure_future(candidate.run()) for candidate in self.candidates]

    def check_alive(self) -> None:
        """Raise what ended a part of the cluster, if something did."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def close(self) -> None:
        """Stop the operator and all components."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def breach(self, text: str) -> None:
        """Note that something happened which must not."""
        self.breaches.append(f"{text} at {self.clock.elapsed():.2f} s")

    # What users do. A user whom the server cannot serve tries again.

    async def create_workload(self, *, is_first: bool = False) -> None:
        """Make the workload, or make it anew."""
        for kind, obj in self.simulated.make_others(self.scenario) if is_first else ():
            await self.create(kind, obj)
        made = self.simulated.make_workload(self.scenario, is_first)
        if self.scenario.strategy != BUDGETED:
            notes = made["metadata"].setdefault("annotations", {})
            notes[STRATEGY] = self.scenario.strategy
        await self.create(self.simulated.kind, made)

    async def create(self, kind: Kind, obj: Object) -> None:
        """Make an object."""
        namespace = NAMESPACE if kind.namespaced else ""
        await self._insist(lambda: self.api.create(self.api.target(kind, namespace), obj, USER))

    async def patch(self, kind: Kind, name: str, patch: Object, part: str = "") -> None:
        """Change part of an object."""
        target = self.api.target(kind, NAMESPACE if kind.namespaced else "", name, part)
        body = PatchBody(PatchType.MERGE, patch)
        await self._insist(lambda: self.api.patch(target, body, USER))

    async def edit_workload(self, write: Callable[[Object], Object]) -> None:
        """Change the spec of the workload; each try starts from the workload as it is by then."""
        target = self.api.target(self.simulated.kind, NAMESPACE, NAME)

        async def ask() -> None:
            workload = self.truth.workload
            if workload is not None:
                body = PatchBody(PatchType.MERGE, {"spec": write(workload)})
                await self.api.patch(target, body, USER)

        await self._insist(ask)

    async def delete(
        self, kind: Kind, name: str, grace: int | None = None, propagation: str = "Background"
    ) -> None:
        """Delete an object."""
        target = self.api.target(kind, NAMESPACE, name)
        options = DeleteOptions(grace, propagation, user=User())
        await self._insist(lambda: self.api.delete(target, options))

    async def _insist(self, ask: Callable[[], object]) -> None:
        IS_USER.set(True)
        for _ in range(TRIES_MAX):
            try:
                await ask()  # type: ignore[misc]
                return
            except InternalError:
                await asyncio.sleep(1.0)
            except ClusterError:
                # It has gone, or is not allowed: the user lets it be.
                return
