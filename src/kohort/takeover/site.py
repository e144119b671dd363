"""
The I/O of a takeover: it reads the cluster, stores the record, and sends one write at a time.

Nothing is decided here. After a conflict the cluster is read again, and the steps decide anew.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from kohort.apis.api import Api
from kohort.apis.home import Home, is_own_holder
from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.errors import AlreadyExists, Conflict, KohortError, NotFound
from kohort.cluster.kinds import CONFIG_MAP, DEPLOYMENT, LEASE, NAMESPACE, POD, SERVICE
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of, uid_of
from kohort.cluster.port import Address, Cluster, Selection
from kohort.cluster.selectors import format_selector
from kohort.controller.clock import Time
from kohort.controller.install.names import MUTATING_KIND, VALIDATING_KIND
from kohort.controller.lease import Claim, judge_claim
from kohort.takeover.controllers import Installed, OtherControllers, find_controllers
from kohort.takeover.record import KINDS, NAME, Place, Record, place_of, read_record, write_record
from kohort.takeover.steps import Refuse, Seen, SeenLease, Step, Wish, Write, decide, is_ours

_ENDED = ("Succeeded", "Failed")  # phases
_LOOK_SECONDS = 1.0
_WRITES_MAX = 5  # repeats of one write, before something is assumed to undo it
Tell = Callable[[str], None]


class Surprise(KohortError):
    """The cluster is not as a takeover expects it; nothing more is written."""


class TookTooLong(KohortError):
    """The condition that a step waits for did not come true in time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a takeover waits."""

    step_seconds: float = 300.0  # for one condition of a step
    quiet_seconds: float = 10.0  # without a write, until the operator counts as idle


class Site:
    """One cluster whose APIs are taken over, and the namespace of our operator."""

    def __init__(self, cluster: Cluster, apis: Sequence[Api], namespace: str, time: Time) -> None:
        self.cluster = cluster
        self.apis = apis
        self.namespace = namespace
        self.time = time
        self._stored: Object | None = None  # the record as it was read or written last
        self._leases: dict[Address, tuple[str, float]] = {}  # version, and since when

    async def find_record(self) -> Record | None:
        """The record of an earlier run."""
        self._stored = await self._find(Address(CONFIG_MAP, self.namespace, NAME))
        return None if self._stored is None else read_record(self._stored)

    async def store(self, record: Record) -> Record:
        """Store the record before the writes that it describes."""
        wanted = write_record(record, self.namespace)
        address, held = Address(CONFIG_MAP, self.namespace, NAME), self._stored
        try:
            if held is None:
                await self._make_namespace()
                self._stored = await self.cluster.create(CONFIG_MAP, self.namespace, wanted)
            elif held.get("data") != wanted["data"]:
                body = {**held, "data": wanted["data"]}
                self._stored = await self.cluster.update(address, body)
        except (Conflict, NotFound) as error:
            raise Surprise(
                f"the record, ConfigMap {self.namespace}/{NAME}, was written meanwhile: another "
                "'kohort takeover' runs on this cluster; let only one of them run"
            ) from error
        return record

    async def forget(self) -> None:
        """Delete the record, since there is nothing left to undo."""
        try:
            await self.cluster.delete(Address(CONFIG_MAP, self.namespace, NAME))
        except NotFound:
            return

    async def find_controllers(self, named: Iterable[tuple[str, str]]) -> OtherControllers:
        """The other controllers of the APIs."""
        deployments = await self._list(DEPLOYMENT)
        configurations = [*await self._list(MUTATING_KIND), *await self._list(VALIDATING_KIND)]
        installed = Installed(deployments, configurations, await self._list(SERVICE))
        return find_controllers(self.apis, installed, named)

    async def observe(self, record: Record, wish: Wish) -> Seen:
        """Read the state of the cluster on which the steps decide."""
        places = dict.fromkeys(
            [
                *(other.place for other in record.deployments),
                *record.hooks,
                *record.made,
                *map(place_of, (*record.saved, *record.conversions)),
                *map(place_of, (*wish.hooks, *wish.conversions, *wish.manifests)),
            ]
        )
        found = await asyncio.gather(*(self._find(_address(place)) for place in places))
        pairs = zip(places, found, strict=True)
        objects = {place: obj for place, obj in pairs if obj is not None}
        pods = await self._list_other_pods(record, objects)
        own_pods = await self._list_own_pods(record, objects)
        return Seen(objects, pods, own_pods, tuple(await self.read_leases(record)))

    async def _list_other_pods(
        self, record: Record, objects: Mapping[Place, Object]
    ) -> tuple[str, ...]:
        """The other controller's pods, also of Deployments that were deleted or replaced."""
        found: dict[str, None] = {}
        for other in record.deployments:
            live = objects.get(other.place)
            chosen = other.selector
            if not chosen and live is not None and not is_ours(live):
                chosen = format_selector(live["spec"]["selector"])
            pods = await self._list_pods(other.namespace, chosen) if chosen else []
            found.update((_name_pod(pod), None) for pod in pods if not is_ours(pod))
        return tuple(found)

    async def _list_own_pods(
        self, record: Record, objects: Mapping[Place, Object]
    ) -> tuple[str, ...]:
        found: list[str] = []
        for place in dict.fromkeys((*record.made, *map(place_of, record.saved))):
            live = objects.get(place) if place.kind == "Deployment" else None
            if live is not None and is_ours(live):
                chosen = format_selector(live["spec"]["selector"])
                pods = await self._list_pods(place.namespace, chosen)
                found += [_name_pod(pod) for pod in pods if is_ours(pod)]
        return tuple(found)

    async def run(
        self, steps: Sequence[Step], record: Record, wish: Wish, limits: Limits, tell: Tell
    ) -> Record:
        """Take the steps until all are done; raises Surprise or TookTooLong."""
        waits_on, since = "", self.time.elapsed()
        counts: Counter[str] = Counter()
        while True:
            step, decision = decide(steps, record, await self.observe(record, wish), wish)
            if decision is None:
                return record
            if isinstance(decision, Refuse):
                raise Surprise(f"{step.says}: {decision.why}")
            if isinstance(decision, Write):
                counts[decision.why] += 1
                if counts[decision.why] > _WRITES_MAX:
                    raise Surprise(
                        f"{step.says}: {decision.why} was sent {_WRITES_MAX} times, and the object "
                        "is still another: something changes it, such as an admission policy or a "
                        "finalizer; end that first"
                    )
                if counts[decision.why] > 1:
                    await self.time.sleep(_LOOK_SECONDS)
                tell(f"{step.says}: {decision.why}")
                record = await self.store(decision.record)
                await self._write(decision)
                continue
            if decision.on != waits_on:
                waits_on, since = decision.on, self.time.elapsed()
                tell(f"{step.says}: waits for {decision.on}")
            if self.time.elapsed() - since > limits.step_seconds:
                raise TookTooLong(f"{step.says}: still waits for {decision.on}")
            await self.time.sleep(_LOOK_SECONDS)

    async def _write(self, write: Write) -> None:
        try:
            if write.put is not None:
                await self._put(write.put)
            if write.delete is not None:
                address = _address(place_of(write.delete))
                await self.cluster.delete(address, uid=uid_of(write.delete))
            if write.scale is not None:
                live, count = write.scale
                body = {"metadata": {"uid": uid_of(live)}, "spec": {"replicas": count}}
                await self.cluster.patch(_address(place_of(live)), body)
        except (Conflict, NotFound):
            # The observed state was stale: read again; after a second conflict in a row, pause.
            await self.time.sleep(_LOOK_SECONDS)

    async def _put(self, obj: Object) -> None:
        place = place_of(obj)
        if metadata_of(obj).get("resourceVersion"):
            await self.cluster.update(_address(place), obj)
            return
        await self.cluster.create(KINDS[place.kind], place.namespace, obj)

    async def read_leases(self, record: Record) -> list[SeenLease]:
        """The leases of the APIs, where either controller may hold them."""
        homes = dict.fromkeys(api.home for api in self.apis)
        spaces = [other.namespace for other in record.deployments]
        addresses = dict.fromkeys(
            Address(LEASE, space, home.lease)
            for home in homes
            for space in (home.namespace, *spaces, *self._list_own(home))
        )
        found = [(address, await self._find(address)) for address in addresses]
        return [self._read_lease(a, lease) for a, lease in found if lease is not None]

    def _list_own(self, home: Home) -> list[str]:
        """Our operator's namespace, if the lease of this home lies there."""
        return [self.namespace] if home == OPERATOR_HOME else []

    def _read_lease(self, address: Address, lease: Object) -> SeenLease:
        version, now = str(metadata_of(lease).get("resourceVersion", "")), self.time.elapsed()
        if self._leases.get(address, ("", 0.0))[0] != version:
            self._leases[address] = (version, now)
        spec = lease.get("spec") or {}
        holder = str(spec.get("holderIdentity") or "")
        claim = judge_claim(spec, "", now - self._leases[address][1]) if holder else Claim.TAKE
        name = f"{address.namespace}/{address.name}"
        return SeenLease(name, holder, is_own_holder(holder), claim is Claim.WAIT)

    async def _list_pods(self, namespace: str, labels: str) -> list[Object]:
        """Pods whose processes may run; an evicted one stays as Failed until it is deleted."""
        listed = await self._list(POD, namespace, labels)
        return [pod for pod in listed if (pod.get("status") or {}).get("phase") not in _ENDED]

    async def _list(self, kind: Kind, namespace: str = "", labels: str = "") -> list[Object]:
        listing = await self.cluster.list(Selection(kind, namespace, labels))
        # Items of a list have no apiVersion and kind of their own.
        known = {"apiVersion": kind.api_version, "kind": kind.name}
        return [{**orjson.loads(raw), **known} for raw in listing.items]

    async def _find(self, address: Address) -> Object | None:
        try:
            return await self.cluster.read(address)
        except NotFound:
            return None

    async def _make_namespace(self) -> None:
        try:
            await self.cluster.create(NAMESPACE, "", {"metadata": {"name": self.namespace}})
        except AlreadyExists:
            return


def _name_pod(pod: Object) -> str:
    return f"pod {namespace_of(pod)}/{name_of(pod)}"


def _address(place: Place) -> Address:
    return Address(KINDS[place.kind], place.namespace, place.name)


def begin_undo(record: Record) -> Record:
    """The record of an undo: the other controller may come back."""
    return replace(record, is_undone=True, is_applied=False, has_stopped=False)
