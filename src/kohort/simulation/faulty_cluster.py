"""
The operator's way to the cluster, on which requests are lost, delayed, refused and stopped.

Faults are counted by requests that write, over all processes of the operator, so a
crash can be placed after any of them. Watches of one kind can fall behind, break
or have to begin anew. Whatever is written through here carries the writer's name
in a context variable, which checkers read when the write is committed.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.errors import (
    ClusterError,
    Conflict,
    InternalError,
    TimedOut,
    TooManyRequests,
    WatchExpired,
)
from kohort.cluster.kinds import CONFIG_MAP, EVENT, LEASE
from kohort.cluster.objects import Kind, Object, owner_reference
from kohort.cluster.port import Address, PatchType, Selection, WatchEvent
from kohort.simulation.choices import Choices
from kohort.simulation.scenario import NAMESPACE, Fault

T = TypeVar("T")

WRITER: ContextVar[str] = ContextVar("writer", default="")
# The workload that a process reconciles: its kind and key.
WORK: ContextVar[tuple[str, tuple[str, str]]] = ContextVar("work", default=("", ("", "")))
BY_REQUEST = {
    "crash-before",
    "crash-after",
    "lost-answer",
    "slow-request",
    "slow-answer",
    "conflict",
    "throttle",
    "error",
}
NOTE = "example.com/noted"  # what another client writes on objects of ours
STEWARD = "steward"  # another owner of claims beside us


@dataclass(frozen=True, slots=True)
class Request:
    """One write that the operator asked for."""

    verb: str
    kind: Kind
    name: str
    writer: str
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(slots=True)
class Trouble:
    """What is wrong with the way to the cluster now; shared by all processes of the operator."""

    faults: tuple[Fault, ...]
    order: Choices
    latency: float = 0.0
    count: int = 0  # requests so far
    lags: dict[str, float] = field(default_factory=dict)  # kinds, and until when
    breaks: dict[str, str] = field(default_factory=dict)  # kinds, and how their watches end
    repeats: dict[str, int] = field(default_factory=dict)  # kinds, and how often events come
    cut_off: dict[str, float] = field(default_factory=dict)  # who cannot reach the lease
    between: dict[str, int] = field(default_factory=dict)  # kinds that others write to as well
    on_request: Callable[[Request], None] = lambda request: None
    on_answer: Callable[[Request, int], None] = lambda request, version: None
    is_over: bool = False

    def find(self) -> Fault | None:
        """What goes wrong with this request."""
        self.count += 1
        if self.is_over:
            return None
        for fault in self.faults:
            if fault.name in BY_REQUEST and fault.n <= self.count < fault.n + fault.span:
                return fault
        return None

    def is_between(self, request: Request) -> bool:
        """Whether another client writes to the object first; each time that costs one of a few."""
        left = self.between.get(request.kind.name, 0)
        self.between[request.kind.name] = max(0, left - 1)
        return left > 0

    def end(self) -> None:
        """From now on all is well."""
        self.is_over = True
        self.latency = 0.0
        self.lags.clear()
        self.breaks.clear()
        self.repeats.clear()
        self.cut_off.clear()
        self.between.clear()


class FaultyCluster(InProcessCluster):
    """What one process of the operator calls the cluster."""

    def __init__(self, api: ApiServer, trouble: Trouble, writer: str) -> None:
        super().__init__(api)
        self.writer = writer
        self.crashed = asyncio.Event()
        self.seconds_down = 1.0
        self.asking = 0  # requests under way
        # Versions that our writes for each workload were answered with, by kind.
        self.written: dict[tuple[tuple[str, tuple[str, str]], Kind], int] = {}
        self._trouble = trouble

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Make an object, if nothing goes wrong."""
        request = Request("create", kind, obj["metadata"]["name"], self.writer)
        work = super().create

        async def make() -> Object:
            # No client of a simulation reads events: they are accepted, and not kept.
            return obj if kind == EVENT else await work(kind, namespace, obj)

        return await self._ask(request, make)

    async def update(self, address: Address, obj: Object) -> Object:
        """Replace an object, if nothing goes wrong."""
        request = Request("update", address.kind, address.name, self.writer)
        return await self._ask(request, lambda: super(FaultyCluster, self).update(address, obj))

    async def patch(
        self,
        address: Address,
        patch: Object | list[Object],
        form: PatchType = PatchType.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Change part of an object, if nothing goes wrong."""
        verb = f"patch/{address.part}" if address.part else "patch"
        request = Request(verb, address.kind, address.name, self.writer)
        work = super().patch
        return await self._ask(
            request, lambda: work(address, patch, form, manager=manager, force=force)
        )

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Delete an object, if nothing goes wrong."""
        request = Request("delete", address.kind, address.name, self.writer, (("uid", uid),))
        work = super().delete
        await self._ask(
            request, lambda: work(address, uid=uid, propagation=propagation, grace=grace)
        )

    async def read(self, address: Address) -> Object:
        """One object; the lease may be out of reach."""
        self._refuse_lease(address.kind)
        return await super().read(address)

    async def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """What changes, late or broken where that was asked for."""
        kind = selection.kind.name
        async for change in super().watch(selection, version, initial=initial):
            while (wait := self._trouble.lags.get(kind, 0.0) - self._now()) > 0:
                await asyncio.sleep(wait)
            how = self._trouble.breaks.pop(kind, "")
            if how in ("relist", "deaf"):
                raise WatchExpired("too old resource version")
            if how:
                return
            for _ in range(self._trouble.repeats.get(kind, 1)):
                yield change

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _refuse_lease(self, kind: Kind) -> None:
        if kind == LEASE and self._trouble.cut_off.get(self.writer, 0.0) > self._now():
            raise TimedOut("the lease cannot be reached")

    async def _ask(self, request: Request, work: Callable[[], Awaitable[T]]) -> T:
        WRITER.set(self.writer)
        if request.kind == LEASE:
            self._refuse_lease(request.kind)
            return await work()
        trouble = self._trouble
        if trouble.latency:
            await asyncio.sleep(trouble.order.between(0.0, trouble.latency))
        fault = trouble.find()
        if trouble.is_between(request):
            await self._write_before(request)
        trouble.on_request(request)
        self.asking += 1
        try:
            answer = await (work() if fault is None else self._ask_in_trouble(fault, work))
        except ClusterError:
            self.asking -= 1
            raise
        self.asking -= 1
        self._note_version(request, answer)
        return answer

    async def _write_before(self, request: Request) -> None:
        """Another client changes the object that we are about to write to."""
        address = Address(request.kind, NAMESPACE, request.name)
        token = WRITER.set("")
        try:
            held = await super().read(address)
            change: Object = {"annotations": {NOTE: str(self._trouble.count)}}
            if request.kind.name == "PersistentVolumeClaim":
                change["ownerReferences"] = await self._add_steward(held)
            await super().patch(address, {"metadata": change})
        except ClusterError:
            # It does not exist, or may not be changed: then no write comes in between.
            pass
        finally:
            WRITER.reset(token)

    async def _add_steward(self, held: Object) -> list[Object]:
        owners = held["metadata"].get("ownerReferences") or []
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": STEWARD}}
        address = Address(CONFIG_MAP, NAMESPACE, STEWARD)
        try:
            steward = await super().create(CONFIG_MAP, NAMESPACE, body)
        except ClusterError:
            steward = await super().read(address)
        reference = owner_reference({**body, **steward}, controller=False, block=False)
        return [*(owner for owner in owners if owner["name"] != STEWARD), reference]

    def _note_version(self, request: Request, answer: object) -> None:
        if isinstance(answer, dict) and request.kind != EVENT:
            version = int(answer["metadata"]["resourceVersion"])
            key = WORK.get(), request.kind
            self.written[key] = max(version, self.written.get(key, 0))
            self._trouble.on_answer(request, version)

    async def _ask_in_trouble(self, fault: Fault, work: Callable[[], Awaitable[T]]) -> T:
        match fault.name:
            case "crash-before":
                await self._crash(fault)
            case "crash-after":
                await work()
                await self._crash(fault)
            case "lost-answer":
                await work()
                raise TimedOut("no answer in time")
            case "slow-request":
                await asyncio.sleep(fault.seconds)
            case "slow-answer":
                answer = await work()
                await asyncio.sleep(fault.seconds)
                return answer
            case "conflict":
                raise Conflict("the object has been modified")
            case "throttle":
                raise TooManyRequests("try again later", details={"retryAfterSeconds": 1})
            case "error":
                raise InternalError("etcdserver: leader changed")
        return await work()

    async def _crash(self, fault: Fault) -> None:
        """The process is killed: nothing that it waits for comes back to it."""
        self.seconds_down = fault.seconds
        self.crashed.set()
        await asyncio.Event().wait()
