"""
Kohort's controllers beside another controller: they watch and plan as always, but never write.

The code that plans is the operator's own, from the caches to the status: no rule stands here a
second time. What it would send is kept by workload as of its last reconcile. Observers take no
lease, so the other controller is not disturbed.

Two locks, each enough by itself, keep them from writing: the executor hands the actions of a plan
to a listener and sends none, and the client refuses all requests that store something. An action
that was not sent is neither done nor failed, so the controller learns nothing from it and plans
on what it reads.
"""

import asyncio
import builtins
from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, NoReturn

from kohort.apis.api import Api, Key, Settings
from kohort.apis.facts import UNDECODABLE
from kohort.cluster.actions import Action
from kohort.cluster.errors import Forbidden, KohortError, NotFound
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import Address, Cluster, Listing, PatchType, Selection, WatchEvent
from kohort.controller.api_controller import ApiController, ControllerContext
from kohort.controller.caches.cache import Difference, UndecodableObject
from kohort.controller.caches.informers import Reports
from kohort.controller.clock import Time
from kohort.controller.execute import Executor, Outcome, Result
from kohort.controller.operator import Operator
from kohort.controller.reconcile import ReconcileResult
from kohort.views.picture import find_revision

ActionListener = Callable[[Hashable, tuple[Action, ...]], None]  # workload, planned actions


class WithheldExecutor(Executor):
    """Hands the actions of plans to a listener, and sends none of them."""

    def __init__(self, cluster: Cluster, listen: ActionListener) -> None:
        super().__init__(cluster, may_write=lambda: False)
        self._listen = listen

    async def run(self, actions: Sequence[Action], key: Hashable = None) -> list[Outcome]:
        """Note the actions; each counts as not sent."""
        self._listen(key, tuple(actions))
        return [Outcome(action, Result.SKIPPED, message="it is withheld") for action in actions]


class ReadOnlyCluster:
    """Passes reads and watches on, of one namespace if one is given, and refuses every write."""

    def __init__(self, inner: Cluster, namespace: str = "") -> None:
        self._inner = inner
        self._namespace = namespace
        self.refused: builtins.list[tuple[str, str]] = []  # verb, and kind with name

    async def create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Refused."""
        self._refuse("create", kind, str((obj.get("metadata") or {}).get("name", "")))

    async def dry_run_create(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Refused, which the controller takes as a response of admission."""
        self._refuse("create", kind, "with dryRun")

    async def read(self, address: Address) -> Object:
        """Read one object from the API server."""
        return await self._inner.read(address)

    async def update(self, address: Address, obj: Object) -> Object:
        """Refused."""
        self._refuse("update", address.kind, address.name)

    async def patch(
        self,
        address: Address,
        patch: Object | builtins.list[Object],
        form: PatchType = PatchType.MERGE,
        *,
        manager: str = "",
        force: bool = False,
    ) -> Object:
        """Refused."""
        self._refuse("patch", address.kind, address.name)

    async def delete(
        self, address: Address, *, uid: str = "", propagation: str = "", grace: int | None = None
    ) -> None:
        """Refused."""
        self._refuse("delete", address.kind, address.name)

    async def list(self, selection: Selection) -> Listing:
        """List all selected objects."""
        return await self._inner.list(self._limit(selection))

    def watch(
        self, selection: Selection, version: str, *, initial: bool = False
    ) -> AsyncIterator[WatchEvent]:
        """Watch the selected objects from a resource version on."""
        return self._inner.watch(self._limit(selection), version, initial=initial)

    def _limit(self, selection: Selection) -> Selection:
        if not self._namespace or selection.namespace or not selection.kind.namespaced:
            return selection
        return replace(selection, namespace=self._namespace)

    def _refuse(self, verb: str, kind: Kind, name: str) -> NoReturn:
        self.refused.append((verb, f"{kind.name} {name}"))
        raise Forbidden(f"this client writes nothing: {verb} {kind.name} {name} is not sent")


@dataclass(frozen=True, slots=True)
class Finding:
    """One workload as of its last reconcile: the planned writes, or why it cannot be planned."""

    api: Api
    key: Key
    actions: tuple[Action, ...] = ()
    fault: str = ""
    is_gone: bool = False  # the workload was deleted


FindingListener = Callable[[Finding], None]


class _FirstTrouble(Reports):
    """Keeps the first permanent error of a watch, and the undecodable objects."""

    def __init__(self) -> None:
        self.error: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.faults: list[tuple[Selection, UndecodableObject]] = []

    def trouble(self, selection: Selection, error: KohortError) -> None:
        """A list or a watch failed; without permission or kind it will fail again."""
        if not isinstance(error, Forbidden | NotFound) or self.error.done():
            return
        if isinstance(error, NotFound):
            name = selection.kind.group_resource
            error = KohortError(f"the cluster does not serve {name}: install its definition")
        self.error.set_exception(error)

    def fault(self, selection: Selection, fault: UndecodableObject) -> None:
        """An object cannot be decoded, so the cache leaves it out."""
        self.faults.append((selection, fault))


class Observer:
    """The controllers of some APIs, which plan and write nothing."""

    def __init__(
        self,
        cluster: Cluster,
        apis: Sequence[Api],
        settings: Settings,
        time: Time,
        namespace: str = "",
    ) -> None:
        self.cluster = ReadOnlyCluster(cluster, namespace)
        self.settings = settings
        self.findings: dict[tuple[Kind, Key], Finding] = {}
        self.listen: FindingListener = lambda finding: None
        self._planned: dict[tuple[Kind, Key], list[Action]] = {}
        self._reports = _FirstTrouble()
        context = ControllerContext(
            self.cluster, time, Random(), settings, make_executor=self._make_executor
        )
        self.operator = Operator(context, apis, self._reports)
        for controller in self.operator.controllers:
            controller.record = partial(self._record, controller.api)
            controller.on_fault = partial(self._note_fault, controller.api)
            controller.roots.subscribe(partial(self._note_root, controller.api))

    @property
    def undecodable(self) -> list[tuple[Selection, UndecodableObject]]:
        """The objects that the caches leave out, since they cannot be decoded."""
        return self._reports.faults

    @asynccontextmanager
    async def running(self, *, plans: bool) -> AsyncIterator[None]:
        """Keep the caches filled while the block runs, and with ``plans`` plan what changes."""
        work = self.operator.run() if plans else self.operator.informers.run()
        running = asyncio.create_task(work)
        ready = asyncio.create_task(self.operator.informers.wait_until_ready())
        trouble = self._reports.error
        try:
            await asyncio.wait([running, ready, trouble], return_when=asyncio.FIRST_COMPLETED)
            if trouble.done():
                await trouble
            if running.done():
                await running
            yield
        finally:
            running.cancel()
            ready.cancel()
            trouble.cancel()
            await asyncio.gather(running, ready, trouble, return_exceptions=True)

    async def reconcile_all(self) -> None:
        """Plan every workload once, on the caches as they are."""
        for controller in self.operator.controllers:
            for key in [entry.key for entry in controller.roots]:
                await controller.work(key)

    async def reconcile(self, finding: Finding) -> None:
        """Plan one workload again."""
        for controller in self.operator.controllers:
            if controller.api is finding.api:
                await controller.work(finding.key)

    def wake(self, finding: Finding) -> None:
        """Let a workload be planned again soon, while plans run."""
        for controller in self.operator.controllers:
            if controller.api is finding.api:
                controller.queue.add(finding.key)

    def list_roots(self, controller: ApiController) -> list[Object]:
        """The workloads of an API, as far as they can be decoded."""
        found: list[Object] = []
        for entry in controller.roots:
            try:
                root, _ = controller.api.find_stray(entry.value.decode())
            except UNDECODABLE:
                continue
            if controller.api.is_workload(root):
                found.append(root)
        return found

    def list_outdated(self, finding: Finding) -> tuple[str, ...]:
        """The pods of groups whose revision a rollout replaces, step after step."""
        found = [c for c in self.operator.controllers if c.api is finding.api]
        root = found[0].roots.find(finding.key) if found else None
        if root is None or finding.fault:
            return ()
        reading = finding.api.read(found[0].gather(finding.key, root))
        target = reading.workload.revision
        stale = [g for g in reading.observed.groups if find_revision(g) not in ("", target)]
        return tuple(f"{finding.key[0]}/{m.name}" for group in stale for m in group.members)

    def _make_executor(self, api: Api) -> WithheldExecutor:
        return WithheldExecutor(self.cluster, partial(self._note, api))

    def _note(self, api: Api, key: Hashable, actions: tuple[Action, ...]) -> None:
        assert isinstance(key, tuple), "every action is taken for a workload"
        self._planned.setdefault((api.kind, key), []).extend(actions)

    def _record(self, api: Api, key: Key, result: ReconcileResult, seconds: float) -> None:
        is_unread = result.observed is None and result.health is not None
        fault = result.health.message if is_unread and result.health else ""
        actions = tuple(self._planned.pop((api.kind, key), ()))
        # A stalled workload would get a condition; here the finding has the fault.
        self._keep(Finding(api, key, () if fault else actions, fault))

    def _note_fault(self, api: Api, key: Key, error: Exception) -> None:
        self._planned.pop((api.kind, key), None)
        self._keep(Finding(api, key, (), f"{type(error).__name__}: {error}"))

    def _note_root(self, api: Api, difference: Difference[Any]) -> None:
        """Forget a deleted workload."""
        if difference.new is None:
            self._planned.pop((api.kind, difference.key), None)
            self.findings.pop((api.kind, difference.key), None)
            self.listen(Finding(api, difference.key, is_gone=True))

    def _keep(self, finding: Finding) -> None:
        roots = [c.roots for c in self.operator.controllers if c.api is finding.api]
        if roots[0].find(finding.key) is None:
            return  # The workload was deleted while it was planned.
        self.findings[finding.api.kind, finding.key] = finding
        self.listen(finding)


async def list_served(cluster: Cluster, apis: Sequence[Api], namespace: str = "") -> list[Api]:
    """The APIs whose kind the API server serves."""
    served = []
    for api in apis:
        try:
            limit = namespace if api.kind.namespaced else ""
            await cluster.list(Selection(api.kind, limit, fields="metadata.name=kohort-asks"))
        except NotFound:
            continue
        served.append(api)
    return served
