"""What is made again for an owner asks for the owner first; what goes by our own hand does not."""

from typing import Any

import orjson
import pytest
from controller_world import CONFIGMAP, make_cluster

from kohort.apis.facts import Whole
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster.actions import Action, Create, Delete, Patch
from kohort.cluster.objects import Kind, Object, find_owner, owner_reference, uid_of
from kohort.cluster.port import Address, PatchType, Selection
from kohort.controller.caches.cache import CacheWriter
from kohort.controller.caches.departures import KEPT_MAX, Departures
from kohort.controller.caches.watcher import Init, Metadata, Put, Ready
from kohort.controller.caches.watermarks import Watermarks
from kohort.controller.execute import Executor, Result

SERVICE = Kind("", "v1", "Service", "services")
CHILD = Address(SERVICE, "lab", "child")


class Counting:
    """The same cluster, and how often it was asked for single objects."""

    def __init__(self, cluster: InProcessCluster) -> None:
        self.cluster = cluster
        self.reads = 0
        self.services: CacheWriter[object]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.cluster, name)

    async def read(self, address: Address) -> Object:
        self.reads += 1
        return await self.cluster.read(address)


async def make_lab() -> tuple[Counting, Executor, Object]:
    """A cluster with an owner, and an executor whose caches know nothing of children."""
    cluster = Counting(await make_cluster())
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner"}}
    owner = await cluster.create(CONFIGMAP, "lab", named)
    caches = [CacheWriter(Selection(kind), orjson.loads) for kind in (CONFIGMAP, SERVICE)]
    for cache in caches:
        cache.apply(Init())
        cache.apply(Ready("1"))
    cluster.services = caches[1]
    marks = Watermarks([cache.reader for cache in caches])
    return cluster, Executor(cluster, marks), {**owner, **named, "metadata": owner["metadata"]}


def child_of(owner: Object, *, is_controlled: bool = True) -> Object:
    owners = [owner_reference(owner, controller=is_controlled)]
    metadata = {"name": "child", "namespace": "lab", "ownerReferences": owners}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"ports": [{"port": 80}]},
    }


def make_owner(uid: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "owner", "uid": uid}}


def create(owner: Object) -> Action:
    return Create(SERVICE, "lab", child_of(owner))


def create_uncontrolled(owner: Object) -> Action:
    return Create(SERVICE, "lab", child_of(owner, is_controlled=False))


def apply(owner: Object) -> Action:
    return Patch(CHILD, child_of(owner), PatchType.APPLY, "lws", force=True)


async def run(executor: Executor, action: Action) -> Result:
    [outcome] = await executor.run([action])
    return outcome.result


async def test_nothing_is_made_again_for_an_owner_that_has_gone():
    for make in (create, create_uncontrolled, apply):
        cluster, executor, owner = await make_lab()
        assert await run(executor, make(owner)) is Result.DONE
        await cluster.delete(CHILD)
        await cluster.delete(Address(CONFIGMAP, "lab", "owner"))
        assert await run(executor, make(owner)) is Result.CONFLICT


@pytest.mark.parametrize("is_controlled", [True, False])
def test_a_child_lives_by_the_same_owner_in_the_caches_and_in_requests(is_controlled):
    child = child_of(make_owner("mine"), is_controlled=is_controlled)
    other = owner_reference(make_owner("other"), controller=False)
    references = child["metadata"]["ownerReferences"]
    child["metadata"]["ownerReferences"] = (
        [other, *references] if is_controlled else [*references, other]
    )
    assert (find_owner(child) or {})["uid"] == "mine"
    assert Whole(orjson.dumps(child)).metadata.owner == "mine"


async def test_nothing_is_made_again_for_an_owner_that_was_made_anew():
    cluster, executor, owner = await make_lab()
    executor.departures.note_gone(CHILD, "child-1", uid_of(owner))
    await cluster.delete(Address(CONFIGMAP, "lab", "owner"))
    await cluster.create(CONFIGMAP, "lab", {"metadata": {"name": "owner"}})
    assert await run(executor, create(owner)) is Result.CONFLICT


async def test_nothing_is_made_again_for_an_owner_that_is_being_deleted():
    cluster, executor, owner = await make_lab()
    executor.departures.note_gone(CHILD, "child-1", uid_of(owner))
    address = Address(CONFIGMAP, "lab", "owner")
    await cluster.patch(address, {"metadata": {"finalizers": ["example.com/wait"]}})
    await cluster.delete(address)
    assert await run(executor, create(owner)) is Result.CONFLICT


async def test_what_another_client_deleted_is_made_again_for_an_owner_that_lives():
    cluster, executor, owner = await make_lab()
    executor.departures.note_gone(CHILD, "child-1", uid_of(owner))
    assert await run(executor, create(owner)) is Result.DONE
    assert cluster.reads == 1


async def test_what_we_deleted_ourselves_is_made_again_without_a_question():
    cluster, executor, owner = await make_lab()
    assert await run(executor, create(owner)) is Result.DONE
    uid = uid_of(await cluster.cluster.read(CHILD))
    cluster.services.apply(Put(Metadata("child", "lab", uid, "2", None), b"{}"))
    assert await run(executor, Delete(SERVICE, "lab", "child", uid)) is Result.DONE
    executor.departures.note_gone(CHILD, uid, uid_of(owner))
    assert await run(executor, create(owner)) is Result.DONE
    assert cluster.reads == 0


def test_no_more_departures_are_kept_than_fit():
    departures = Departures()
    addresses = [Address(SERVICE, "lab", f"child-{n}") for n in range(KEPT_MAX + 1)]
    for address in addresses:
        departures.note_made(address, "owner")
    assert not departures.is_renewal(addresses[0], "owner")
    assert departures.is_renewal(addresses[-1], "owner")
