"""
The site of a takeover: one cluster, and everything that a takeover reads of it.

It writes nothing: ``step_runner`` sends the writes, ``record_store`` keeps the record.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import orjson

from kohort.apis.api import Api
from kohort.apis.home import Home, is_own_holder
from kohort.apis.served import OPERATOR_HOME
from kohort.cluster.errors import NotFound
from kohort.cluster.kinds import DEPLOYMENT, LEASE, POD, SERVICE
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, namespace_of
from kohort.cluster.port import Address, Cluster, Selection
from kohort.cluster.selectors import format_selector
from kohort.controller.clock import Time
from kohort.controller.install.names import MUTATING_KIND, VALIDATING_KIND
from kohort.controller.lease import Claim, judge_claim
from kohort.takeover.controllers import Installed, OtherControllers, find_controllers
from kohort.takeover.record import KINDS, Place, Record, place_of
from kohort.takeover.record_store import RecordStore
from kohort.takeover.steps import Seen, SeenLease, Wish, is_ours

_ENDED = ("Succeeded", "Failed")  # phases


class Site:
    """One cluster whose APIs are taken over, and the namespace of our operator."""

    def __init__(self, cluster: Cluster, apis: Sequence[Api], namespace: str, time: Time) -> None:
        self.cluster = cluster
        self.apis = apis
        self.namespace = namespace
        self.time = time
        self.records = RecordStore(cluster, namespace)
        self._leases: dict[Address, tuple[str, float]] = {}  # version, and since when

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
        found = await asyncio.gather(*(self._find(address_of_place(place)) for place in places))
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


def _name_pod(pod: Object) -> str:
    return f"pod {namespace_of(pod)}/{name_of(pod)}"


def address_of_place(place: Place) -> Address:
    """The address of an object in the cluster."""
    return Address(KINDS[place.kind], place.namespace, place.name)
