"""
This is where commands find the objects that a workload has, directly and through others.

All kinds that any API watches are listed once, and owner references are followed from the
workload on. A kind that the cluster does not serve, or that the user may not see, has no
objects here.
"""

import asyncio

import orjson

from kohort.apis.served import APIS
from kohort.cluster.errors import ClusterError, Forbidden, NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import REPLICA_SET
from kohort.cluster.objects import Kind, Object, find_controller, metadata_of, uid_of
from kohort.cluster.port import Address, Selection
from kohort.views.picture import Picture
from kohort.views.samples import needed

_DEPTH_MAX = 12


def list_kinds() -> tuple[Kind, ...]:
    """The kinds of objects that workloads have."""
    own = (api.kind for api in APIS if api.kind.namespaced)
    watched = (watched.kind for api in APIS for watched in needed(api))
    return tuple(dict.fromkeys((*own, *watched, REPLICA_SET)))


async def find_descendants(cluster: HttpCluster, picture: Picture) -> frozenset[str]:
    """The uids of a workload and of all that descends from it."""

    async def read(kind: Kind) -> list[Object]:
        try:
            listing = await cluster.list(Selection(kind, picture.namespace))
        except (NotFound, Forbidden):
            return []
        return [orjson.loads(raw) for raw in listing.items]

    lists = await asyncio.gather(*(read(kind) for kind in list_kinds()))
    owners = {
        uid_of(obj): [owner.get("uid") for owner in metadata_of(obj).get("ownerReferences") or ()]
        for objects in lists
        for obj in objects
    }
    members = (picture.sample.find_member(name) for name in picture.sample.members)
    found = {uid_of(picture.root), *(uid_of(pod) for pod in members if pod)}
    while grown := {uid for uid, of in owners.items() if uid not in found and found & set(of)}:
        found |= grown
    return frozenset(found - {""})


async def list_owners(cluster: HttpCluster, obj: Object) -> list[Object]:
    """The controllers above an object, the nearest first, as far as they can be read."""
    kinds = {(kind.group, kind.name): kind for kind in list_kinds()}
    found: list[Object] = []
    while (owner := find_controller(obj)) is not None and len(found) < _DEPTH_MAX:
        seen = {"kind": owner.get("kind"), "metadata": {"name": owner.get("name")}}
        found.append(seen)
        group = str(owner.get("apiVersion")).rpartition("/")[0]
        kind = kinds.get((group, str(owner.get("kind"))))
        if kind is None:
            break
        namespace = str(metadata_of(obj).get("namespace", ""))
        try:
            obj = await cluster.read(Address(kind, namespace, str(owner.get("name"))))
        except ClusterError:
            break
    return found


async def is_simulated(cluster: HttpCluster) -> bool:
    """Whether the cluster is an embedded one, whose pods run nothing."""
    try:
        version = await cluster.read_document("/version")
    except ClusterError:
        return False
    return str(version.get("gitVersion", "")).endswith("+kohort")
