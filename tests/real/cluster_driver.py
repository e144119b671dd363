"""
A user at a cluster: what one does to workloads, and what one sees, on any cluster behind the port.

What is seen comes from watches, and claims are looked at after each single change. So
a state that lasts a moment is not missed, and no test waits longer than needed.
"""

import asyncio
import linecache
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Self

import orjson
from watch_record import Record

from kohort.apis.leaderworkerset.labels import KIND as LWS
from kohort.cluster.errors import ClusterError, WatchExpired
from kohort.cluster.kinds import CONTROLLER_REVISION, NAMESPACE, POD, SERVICE, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, find_condition, is_leaving, name_of, uid_of
from kohort.cluster.port import Address, Cluster, PatchType, Selection, WatchEvent

KINDS = (LWS, POD, STATEFUL_SET, SERVICE, CONTROLLER_REVISION)
WAIT_SECONDS = 180.0  # for a machine that has much else to do
Claim = Callable[[], Any]


class Driver:
    """One namespace of a cluster, and what happens in it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.namespace = f"try-{secrets.token_hex(4)}"
        self.record = Record()
        self._seen: dict[Kind, dict[str, Object]] = {}
        self._edited: dict[str, int] = {}  # generations that our own edits led to
        self._claims: list[tuple[Claim, asyncio.Future[None]]] = []
        self._followers: list[Callable[[], None]] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self.cluster.create(NAMESPACE, "", {"metadata": {"name": self.namespace}})
        self._tasks = [asyncio.create_task(self._keep(kind)) for kind in KINDS]
        try:
            await self.until(lambda: len(self._seen) == len(KINDS))
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.cluster.delete(Address(NAMESPACE, "", self.namespace))

    # What a user does.

    async def apply(self, obj: Object) -> Object:
        """Make a workload."""
        return await self.cluster.create(LWS, self.namespace, obj)

    async def edit(self, name: str, *operations: Object, kind: Kind = LWS) -> None:
        """Change an object, by JSON patch."""
        address = Address(kind, self.namespace, name)
        stored = await self.cluster.patch(address, list(operations), PatchType.JSON)
        self._edited[name] = stored["metadata"].get("generation", 0)

    async def edit_as(self, manager: str, kind: Kind, name: str, body: Object) -> None:
        """Change an object by strategic merge patch, in the name of one of kubectl's commands."""
        address = Address(kind, self.namespace, name)
        await self.cluster.patch(address, body, PatchType.STRATEGIC, manager=manager)

    async def delete(self, kind: Kind, name: str, **options: Any) -> None:
        """Delete an object."""
        await self.cluster.delete(Address(kind, self.namespace, name), **options)

    # What a user sees.

    def all(self, kind: Kind) -> list[Object]:
        """Every object of a kind."""
        return list(self._seen[kind].values())

    def find(self, kind: Kind, name: str) -> Object | None:
        """One object, if it is there."""
        return self._seen[kind].get(name)

    def uids(self) -> dict[str, str]:
        """The uids of all pods that are not on their way out."""
        return {name_of(pod): uid_of(pod) for pod in self.all(POD) if not is_leaving(pod)}

    def is_available(self, name: str = "x") -> bool:
        """Whether a workload is up to date and serves, as it says and as the pods say."""
        lws = self.find(LWS, name)
        if lws is None or not lws.get("status"):
            return False
        generation = lws["metadata"]["generation"]
        is_fresh = lws["status"].get("observedGeneration") == generation
        is_fresh = is_fresh and generation >= self._edited.get(name, 0)
        updating = (find_condition(lws, "UpdateInProgress") or {}).get("status") == "True"
        available = (find_condition(lws, "Available") or {}).get("status") == "True"
        return is_fresh and available and not updating and all(map(is_ready, self.all(POD)))

    async def until(self, claim: Claim, seconds: float = WAIT_SECONDS) -> None:
        """Return when something holds, if only for a moment."""
        held = asyncio.get_running_loop().create_future()
        self._claims.append((claim, held))
        self._check()
        try:
            async with asyncio.timeout(seconds):
                await held
        except TimeoutError:
            waited = f"this did not happen within {seconds:.0f} s: {_quote(claim)}"
            raise AssertionError(f"{waited}\nwhat is there:\n{self.describe()}") from None

    def follow(self, look: Callable[[], None]) -> None:
        """Call a function after each change."""
        self._followers.append(look)

    def describe(self) -> str:
        """What there is, for people."""
        lines = [f"{name_of(o)}: {orjson.dumps(o.get('status')).decode()}" for o in self.all(LWS)]
        for pod in self.all(POD):
            ready = (find_condition(pod, "Ready") or {}).get("status")
            leaving = " leaving" if is_leaving(pod) else ""
            phase = (pod.get("status") or {}).get("phase")
            lines.append(f"  {name_of(pod)} {phase} ready={ready}{leaving}")
        counts = Counter({kind.plural: len(self._seen.get(kind, ())) for kind in KINDS})
        return "\n".join([*lines, str(dict(counts))])

    async def _keep(self, kind: Kind) -> None:
        selection, version = Selection(kind, self.namespace), ""
        while True:
            # A server that is restarted ends watches; one goes on from where it was.
            try:
                version = version or await self._list(selection)
                async for change in self.cluster.watch(selection, version):
                    version = self._take(kind, change)
            except WatchExpired:
                version = ""
            except (ClusterError, OSError):
                pass
            await asyncio.sleep(0.1)

    async def _list(self, selection: Selection) -> str:
        listing = await self.cluster.list(selection)
        found = [orjson.loads(item) for item in listing.items]
        if selection.kind in self._seen:
            before = self.all(selection.kind)
            self.record.note_listing(selection.kind, before, found, listing.version)
        self._seen[selection.kind] = {name_of(obj): obj for obj in found}
        self._check()
        return listing.version

    def _take(self, kind: Kind, change: WatchEvent) -> str:
        obj = orjson.loads(change.raw)
        if change.type != "BOOKMARK":
            self.record.note(kind, change.type, obj)
        if change.type == "DELETED":
            self._seen[kind].pop(name_of(obj), None)
        elif change.type in ("ADDED", "MODIFIED"):
            self._seen[kind][name_of(obj)] = obj
        self._check()
        version: str = obj["metadata"]["resourceVersion"]
        return version

    def _check(self) -> None:
        if len(self._seen) < len(KINDS):
            return
        for look in self._followers:
            look()
        waiting = []
        for claim, held in self._claims:
            if held.done():
                continue
            if claim():
                held.set_result(None)
            else:
                waiting.append((claim, held))
        self._claims = waiting


def _quote(claim: Claim) -> str:
    """The line that a claim was written on."""
    code = getattr(claim, "__code__", None)
    if code is None:
        return repr(claim)
    return linecache.getline(code.co_filename, code.co_firstlineno).strip() or code.co_name


def is_ready(pod: Object) -> bool:
    """Whether a pod serves, and is to stay."""
    return (find_condition(pod, "Ready") or {}).get("status") == "True" and not is_leaving(pod)


def set_image(image: str, container: int = 0) -> Object:
    """A new image for all members."""
    path = f"/spec/leaderWorkerTemplate/workerTemplate/spec/containers/{container}/image"
    return {"op": "replace", "path": path, "value": image}


def set_replicas(count: int) -> Object:
    """Another number of groups."""
    return {"op": "replace", "path": "/spec/replicas", "value": count}


def make_lws(name: str = "x", groups: int = 2, size: int = 3, **more: Any) -> Object:
    """A LeaderWorkerSet; more: rollout, template, startup, network, container and others."""
    container = {"name": "engine", "image": "engine:1", **more.get("container", {})}
    pod = {
        "metadata": {"annotations": more.get("pod_annotations", {})},
        "spec": {"containers": [container, *more.get("beside", ())]},
    }
    template = {"size": size, "workerTemplate": pod, **more.get("template", {})}
    spec: Object = {"replicas": groups, "leaderWorkerTemplate": template}
    if "startup" in more:
        spec["startupPolicy"] = more["startup"]
    if "network" in more:
        spec["networkConfig"] = {"subdomainPolicy": more["network"]}
    if "rollout" in more:
        spec["rolloutStrategy"] = {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": more["rollout"],
        }
    return {
        "apiVersion": LWS.api_version,
        "kind": LWS.name,
        "metadata": {"name": name, "annotations": more.get("annotations", {})},
        "spec": spec,
    }


def images(pods: Sequence[Object]) -> set[str]:
    """The images of the first containers."""
    return {pod["spec"]["containers"][0]["image"] for pod in pods}
