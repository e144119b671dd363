"""
The existing objects that a service owns, and its pods.

The operator finds pods, which workloads own, by the service's label. It finds all other objects by
owner reference, so it never takes another object with the same name for the service's own.
"""

from typing import Any

import msgspec
import orjson

from kohort.apis.api import Key, Snapshot, Watched
from kohort.apis.facts import PodFacts, Whole, add_details, read_node
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.assembly import OWNED
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.objects import Kind, Object, uid_of

POD = Kind("", "v1", "Pod", "pods")
NODE = Kind("", "v1", "Node", "nodes", namespaced=False)


class ServicePod(PodFacts, rename="camel"):
    """A pod of a service, with its JSON, as its containers show how far the model has loaded."""

    raw: bytes = b""

    def decode(self) -> Object:
        """The whole pod, as a fresh dictionary."""
        decoded: Object = orjson.loads(self.raw)
        return decoded


_pod = msgspec.json.Decoder(ServicePod)


def read_pod(raw: bytes) -> ServicePod:
    """Decode a pod of a service for the cache."""
    pod = add_details(_pod.decode(raw), raw)
    pod.raw = raw
    return pod


def _pod_owners(pod: ServicePod) -> tuple[Key, ...]:
    name = pod.metadata.labels.get(labels.SERVICE_NAME)
    return ((pod.metadata.namespace, name),) if name else ()


def _owners(child: Any) -> tuple[Key, ...]:
    metadata = child.metadata
    owners = (o for o in metadata.owner_references if o.controller)
    kind = kinds.INFERENCE_SERVICE.name
    return tuple((metadata.namespace, o.name) for o in owners if o.kind == kind)


def _watch(kind: Kind) -> Watched:
    remedy = kinds.OPTIONAL.get(kind, "")
    return Watched(kind, Whole, "", _owners, remedy, is_needed=not remedy)


WATCHED = (
    Watched(POD, read_pod, labels.SERVICE_NAME, _pod_owners),
    *(_watch(kind) for kind in OWNED),
    Watched(NODE, read_node),
)


def find_existing(snapshot: Snapshot) -> Existing:
    """Objects that this service owns by uid and that are not being deleted, by kind and name."""
    uid = uid_of(snapshot.root)
    return {
        kind: {
            found.metadata.name: found.decode()
            for found in snapshot.all(kind)
            if found.metadata.controller == uid and not found.metadata.is_leaving
        }
        for kind in OWNED
    }
