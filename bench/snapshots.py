"""
Snapshots: a workload and its children at rest, in caches that no cluster fills.

The children are what the operator itself renders, so a plan about them has nothing
to do. Caches are filled as watchers fill them.
"""

from collections.abc import Iterator
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import orjson

from kohort.apis.carriers.pods import Note, write_note
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.admission.defaults import default_workload, record_carrier
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.leaderworkerset.objects.pods import leader_pods, worker_pods
from kohort.apis.leaderworkerset.objects.services import shared_service
from kohort.apis.leaderworkerset.objects.sets import leader_set, worker_set
from kohort.apis.leaderworkerset.revision import make_revision, revision_data
from kohort.apis.revision_hash import hash_revision
from kohort.cluster.objects import Object, owner_reference, uid_of
from kohort.controller.api_controller import ApiController, ControllerContext
from kohort.controller.caches.cache import CacheWriter
from kohort.controller.caches.informers import Informers
from kohort.controller.caches.watcher import Init, Metadata, Put, Ready
from kohort.controller.clock import LoopTime
from kohort.model.observed import Progress

HASH = "bench-7d4b9c"


class Shelf:
    """Caches without a watch: their owner puts objects in."""

    def __init__(self) -> None:
        self.writers: dict[str, CacheWriter[Any]] = {}
        self.absent: dict[Any, Any] = {}

    def add(self, selection: Any, decode: Any, indexes: Any = None, **options: Any) -> Any:
        """A cache, ready and empty."""
        writer = CacheWriter(selection, decode, indexes)
        writer.apply(Init())
        writer.apply(Ready("1"))
        self.writers[selection.kind.name] = writer
        return writer.reader

    def put(self, obj: Object) -> None:
        """Let the caches see an object."""
        held = obj["metadata"]
        metadata = Metadata(held["name"], held["namespace"], held["uid"], held["resourceVersion"])
        self.writers[obj["kind"]].apply(Put(metadata, orjson.dumps(obj)))


def make_controller() -> tuple[ApiController, Shelf]:
    """An API controller for LeaderWorkerSets, without a cluster."""
    shelf = Shelf()
    context = ControllerContext(cast(Any, None), LoopTime(), Random(1))
    return ApiController(LEADER_WORKER_SET, cast(Informers, shelf), context), shelf


def make_workload(name: str, groups: int, size: int, carrier: str) -> Object:
    """A LeaderWorkerSet as the server has it."""
    container = {"name": "engine", "image": "engine:1", "ports": [{"containerPort": 8000}]}
    asked = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": groups,
            "leaderWorkerTemplate": {
                "size": size,
                "workerTemplate": {"spec": {"containers": [container]}},
            },
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {
                    "maxUnavailable": "10%" if groups >= 10 else 1,
                    "maxSurge": 0,
                },
            },
        },
    }
    return record_carrier(default_workload(asked), carrier)


def make_children(lws: Object, groups: int, size: int, carrier: str) -> Iterator[Object]:
    """Everything that belongs to the workload when it is at rest."""
    key = hash_revision(revision_data(lws))
    revision = make_revision(lws, 1, key)
    if carrier == labels.PODS:
        note = Note(Progress(0, groups, groups, key), key, 1)
        revision["metadata"]["annotations"] = {labels.PROGRESS: write_note(note)}
    yield stamp({"apiVersion": "apps/v1", "kind": "ControllerRevision", **revision})
    yield stamp({"apiVersion": "v1", "kind": "Service", **shared_service(lws)})
    owner = stamp(leader_set(lws, key, groups, 0))
    if carrier != labels.PODS:
        yield _settle(owner, groups)
    for leader in leader_pods(lws, key, range(groups)):
        yield from _make_group(lws, owner, cast(Object, leader), size, carrier)


def _make_group(
    lws: Object, owner: Object, leader: Object, size: int, carrier: str
) -> Iterator[Object]:
    stamp(leader)
    workers = [cast(Object, pod) for pod in worker_pods(lws, leader, range(1, size))]
    if carrier != labels.PODS:
        others = stamp(worker_set(lws, leader))
        yield _settle(others, size - 1)
        leader["metadata"]["ownerReferences"] = [owner_reference(owner)]
        for pod in workers:
            pod["metadata"]["ownerReferences"] = [owner_reference(others)]
    for pod in (leader, *workers):
        if carrier != labels.PODS:
            del pod["metadata"]["labels"][labels.CARRIER]
            pod["metadata"]["labels"]["controller-revision-hash"] = HASH
        yield make_ready(stamp(pod))


_numbers = SimpleNamespace(last=1)


def stamp(obj: Object) -> Object:
    """The object as stored anew: with an identity, if it has none, and another version."""
    _numbers.last += 1
    metadata = obj["metadata"]
    metadata.setdefault("uid", f"00000000-0000-4000-8000-{_numbers.last:012d}")
    metadata.setdefault("generation", 1)
    metadata["resourceVersion"] = str(_numbers.last)
    return obj


def make_ready(pod: Object, *, is_ready: bool = True) -> Object:
    """A pod that runs, and says whether it is ready."""
    pod["spec"]["nodeName"] = "node-0"
    pod["status"] = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True" if is_ready else "False"}],
        "containerStatuses": [{"name": "engine", "restartCount": 0, "state": {"running": {}}}],
    }
    return pod


def _settle(found: Object, count: int) -> Object:
    found["status"] = {
        "observedGeneration": 1,
        "replicas": count,
        "availableReplicas": count,
        "currentRevision": HASH,
        "updateRevision": HASH,
    }
    assert uid_of(found)
    return found
