"""
A cluster with a stand-in for another controller, a stand-in for kubelets that run ours, and a user.

Time is virtual. Our operator is the real one: it runs, and holds its lease, while a pod of our
Deployment exists.
"""

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from random import Random
from typing import Any

from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.home import name_holder
from kohort.apis.served import OPERATOR_HOME, choose_apis
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster import kinds
from kohort.cluster.errors import KohortError, NotFound
from kohort.cluster.kinds import CONFIG_MAP, DEPLOYMENT, LEASE
from kohort.cluster.objects import Kind, Object, labels_of, name_of
from kohort.cluster.port import Address
from kohort.controller.api_controller import ControllerContext
from kohort.controller.install.names import DEPLOYMENT as OUR_DEPLOYMENT
from kohort.controller.install.names import MUTATING_KIND, NAMESPACE, VALIDATING_KIND
from kohort.controller.lease import Election, LeaseTerms
from kohort.controller.operator import Operator
from kohort.takeover.apply import ApplyOptions, apply, undo
from kohort.takeover.record import NAME
from kohort.takeover.site import Site
from kohort.takeover.step_runner import Limits
from upstream_controllers import OTHERS

WRITES = ("create", "update", "patch", "delete")
LIMITS = Limits(step_seconds=120, quiet_seconds=5)


class Killed(Exception):
    """The process of the command was killed."""


class MortalCluster(InProcessCluster):
    """Kills its user after a number of writes, each of which has happened."""

    def __init__(self, api: Any, left: int | None = None) -> None:
        super().__init__(api, bookmark_seconds=None)
        self.left, self.count = left, 0

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in WRITES:
            return method

        async def call(*args: Any, **options: Any) -> Any:
            answer = await method(*args, **options)
            self.count += 1
            if self.left is not None and self.count >= self.left:
                raise Killed
            return answer

        return call


class ApplyLab(Lab):
    """A cluster on which a takeover is tried."""

    def __init__(self, *names: str) -> None:
        super().__init__(apis=choose_apis(names))
        self.names = names
        self.tasks: list[asyncio.Task[None]] = []
        self.writers: set[str] = set()  # who may write now
        self.most_writers = 0
        self.ghost = ""  # whose lease a process outside of the cluster renews

    async def open_with_others(
        self, names: tuple[str, ...] | None = None, renamed: str = ""
    ) -> "ApplyLab":
        """Start the cluster, with the other controllers and without our operator."""
        await self.open(operator=False)
        self.door = InProcessCluster(self.api, bookmark_seconds=None)
        for name in self.names if names is None else names:
            for obj in OTHERS[name].list_objects():
                if renamed and name == self.names[0] and obj["kind"] == "Deployment":
                    obj["metadata"]["name"] = renamed
                await self.put(obj)
            self.tasks.append(asyncio.ensure_future(self._stand_in(name)))
        self.tasks.append(asyncio.ensure_future(self._run_ours()))
        await self.run(30)
        return self

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await super().close()

    async def put(self, obj: Object) -> Object:
        kind = self._find_kind(obj)
        return await self.door.create(kind, obj["metadata"].get("namespace", ""), obj)

    async def find_live(self, kind: Kind, namespace: str, name: str) -> Object | None:
        try:
            return await self.door.read(Address(kind, namespace, name))
        except NotFound:
            return None

    async def _stand_in(self, name: str) -> None:
        """Upstream's process: it holds its lease while a pod of its Deployment exists."""
        other = OTHERS[name]
        while True:
            live = await self.find_live(DEPLOYMENT, other.namespace, other.deployment)
            is_theirs = (
                live is not None and labels_of(live).get("app.kubernetes.io/name") != "kohort"
            )
            is_up = is_theirs and self._count_pods(other.namespace, dict(other.labels)) > 0
            self._note(name, is_up=is_up)
            if is_up or self.ghost == name:
                await self._renew(name)
            await self.time.sleep(1.0)

    async def _renew(self, name: str) -> None:
        other = OTHERS[name]
        lease = other.write_lease(
            f"{other.deployment}-0", self.time.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        )
        with suppress(KohortError):
            live = await self.find_live(LEASE, other.namespace, other.lease)
            if live is None:
                await self.put(lease)
            else:
                await self.door.update(
                    Address(LEASE, other.namespace, other.lease), {**live, "spec": lease["spec"]}
                )

    def _count_pods(self, namespace: str, labels: dict[str, str]) -> int:
        entries = self.api.store.bucket(self.api.registry.of(kinds.POD).bucket).entries.values()
        pods = [e.decode() for e in entries if e.namespace == namespace]
        up = [pod for pod in pods if pod["status"].get("phase") not in ("Failed", "Succeeded")]
        return sum(1 for pod in up if labels.items() <= labels_of(pod).items())

    def _note(self, name: str, *, is_up: bool) -> None:
        (self.writers.add if is_up else self.writers.discard)(name)
        for group in self.names:
            both = {group, "ours"} <= self.writers
            self.most_writers = max(self.most_writers, 2 if both else 1)

    async def _run_ours(self) -> None:
        """What kubelets do with our Deployment: the real operator runs while it has a pod."""
        while True:
            await self.time.sleep(1.0)
            if not await self._is_ours_up():
                continue
            work = asyncio.ensure_future(self._operate())
            while await self._is_ours_up():
                await self.time.sleep(1.0)
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            self._note("ours", is_up=False)

    async def _is_ours_up(self) -> bool:
        live = await self.find_live(DEPLOYMENT, NAMESPACE, OUR_DEPLOYMENT)
        if live is None or not _is_ours(live):
            return False
        return self._count_pods(NAMESPACE, live["spec"]["selector"]["matchLabels"]) > 0

    async def _operate(self) -> None:
        homes = list(dict.fromkeys(api.home for api in self.apis))
        elections = [
            Election(
                self.door,
                LeaseTerms(
                    home.lease,
                    NAMESPACE if home == OPERATOR_HOME else home.namespace,
                    name_holder("ours", "1"),
                ),
                self.time,
                Random(1),
            )
            for home in homes
        ]
        try:
            async with asyncio.TaskGroup() as group:
                leading = [group.create_task(self._lead(election)) for election in elections]
                while not all(election.is_held for election in elections):
                    await self.time.sleep(1.0)
                self._note("ours", is_up=True)
                context = ControllerContext(self.door, self.time, Random(1), self.settings)
                group.create_task(Operator(context, self.apis).run())
                await asyncio.gather(*leading)
        finally:
            for election in elections:
                await election.release()

    async def _lead(self, election: Election) -> None:
        await election.acquire()
        await election.keep()

    # What the user does.

    def options(self, **more: Any) -> ApplyOptions:
        return ApplyOptions(self.names, DEFAULTS, image="kohort:1", limits=LIMITS, **more)

    def site(self, left: int | None = None) -> Site:
        self.mortal = MortalCluster(self.api, left)
        return Site(self.mortal, self.apis, NAMESPACE, self.time)

    async def take_over(self, left: int | None = None, **more: Any) -> list[str]:
        """Take over; what was told."""
        told: list[str] = []
        await self.drive(apply(self.site(left), self.options(**more), told.append))
        return told

    async def undo(self, left: int | None = None) -> bool:
        return await self.drive(undo(self.site(left), LIMITS, lambda text: None))

    async def is_killed(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Whether the work was killed before its end."""
        try:
            await work
        except Killed:
            return True
        return False

    async def scale(self, name: str, count: int) -> None:
        other = OTHERS[name]
        address = Address(DEPLOYMENT, other.namespace, other.deployment)
        await self.door.patch(address, {"spec": {"replicas": count}})

    async def cordon(self) -> None:
        """No pod finds a node from now on."""
        for node in self.all(kinds.NODE):
            address = Address(kinds.NODE, "", name_of(node))
            await self.door.patch(address, {"spec": {"unschedulable": True}})

    async def drive(self, work: Coroutine[Any, Any, Any] | asyncio.Future[Any]) -> Any:
        """Let time pass until the work is done."""
        task = asyncio.ensure_future(work)
        for _ in range(900):
            await self.run(1.0)
            if task.done():
                return task.result()
        task.cancel()
        raise AssertionError("it never ended")

    # What can be seen.

    async def picture(self) -> Object:
        """All that a takeover changes, without what the API server counts."""
        found: Object = {}
        for name in self.names:
            other = OTHERS[name]
            for kind, space, called in (
                (DEPLOYMENT, other.namespace, other.deployment),
                *((HOOKS[kind], "", hook) for kind, hook, _ in other.hooks),
            ):
                live = await self.find_live(kind, space, called)
                found[f"{kind.name} {called}"] = _essence(live)
        return found

    async def count_replicas(self, name: str) -> int:
        other = OTHERS[name]
        live = await self.find_live(DEPLOYMENT, other.namespace, other.deployment)
        return -1 if live is None else int(live["spec"]["replicas"])

    async def record(self) -> Object | None:
        live = await self.find_live(CONFIG_MAP, NAMESPACE, NAME)
        return None if live is None else json.loads(live["data"]["record.json"])


HOOKS = {kind.name: kind for kind in (MUTATING_KIND, VALIDATING_KIND)}


def _is_ours(obj: Object) -> bool:
    return labels_of(obj).get("app.kubernetes.io/name") == "kohort"


def _essence(obj: Object | None) -> Object | None:
    if obj is None:
        return None
    return {part: obj[part] for part in ("spec", "webhooks") if part in obj}
