"""
The existing objects that a service owns, and its pods.

The operator finds pods, which workloads own, by the service's label. It finds all other objects by
owner reference, so it never takes another object with the same name for the service's own. An
object without an owner counts as the service's own if it has the service's label and the operator
made it: ``kubectl delete --cascade=orphan`` left it behind, and the service adopts it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from kohort.apis.api import Key, Snapshot, Watched
from kohort.apis.facts import PodFacts, Whole, add_details, read_node
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.assembly import OWNED
from kohort.apis.inferenceservice.objects.owned import FIELD_MANAGER, FORMER_MANAGERS
from kohort.apis.inferenceservice.strategies.strategy import Existing
from kohort.cluster.kinds import (
    AUTOSCALER,
    BUDGET,
    CONFIG_MAP,
    DEPLOYMENT,
    INGRESS,
    NODE,
    POD,
    SERVICE,
    SERVICE_ACCOUNT,
)
from kohort.cluster.objects import Kind, Object, metadata_of, name_of, uid_of


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


def _pod_owners(pod: Any) -> tuple[Key, ...]:
    name = pod.metadata.labels.get(labels.SERVICE_NAME)
    return ((pod.metadata.namespace, name),) if name else ()


def _owners(child: Any) -> tuple[Key, ...]:
    metadata = child.metadata
    owners = [o for o in metadata.owner_references if o.controller]
    if not owners:
        return _pod_owners(child)
    kind = kinds.INFERENCE_SERVICE.name
    return tuple((metadata.namespace, o.name) for o in owners if o.kind == kind)


# Kinds of which a cluster may have very many: only those with the service's label are cached, so
# that memory grows with services and not with the cluster. The other kinds are shared with the
# caches of the APIs that carry services.
_LABELLED = (
    CONFIG_MAP,
    SERVICE,
    SERVICE_ACCOUNT,
    kinds.ROLE,
    kinds.ROLE_BINDING,
    DEPLOYMENT,
    AUTOSCALER,
    BUDGET,
    INGRESS,
    kinds.SCALED_OBJECT,
    kinds.HTTP_ROUTE,
    kinds.VIRTUAL_SERVICE,
    kinds.ISTIO_SIDECAR,
    kinds.KNATIVE_SERVICE,
    kinds.RAY_CLUSTER,
)


def _watch(kind: Kind) -> Watched:
    remedy = kinds.OPTIONAL.get(kind, "")
    selector = labels.SERVICE_NAME if kind in _LABELLED else ""
    return Watched(kind, Whole, selector, _owners, remedy, is_needed=not remedy)


WATCHED = (
    Watched(POD, read_pod, labels.SERVICE_NAME, _pod_owners),
    *(_watch(kind) for kind in OWNED),
    Watched(NODE, read_node),
)


def find_existing(snapshot: Snapshot) -> Existing:
    """Objects of this service that are not being deleted, by kind and name."""
    uid = uid_of(snapshot.root)
    orphans = {(kind, found.metadata.name) for kind, found in find_orphans(snapshot)}
    return {
        kind: {
            found.metadata.name: found.decode()
            for found in snapshot.all(kind)
            if (found.metadata.controller == uid and not found.metadata.is_leaving)
            or (kind, found.metadata.name) in orphans
        }
        for kind in OWNED
    }


def find_orphans(snapshot: Snapshot) -> Iterator[tuple[Kind, Whole]]:
    """Objects that were made for a service of this name and have no owner any more."""
    name = name_of(snapshot.root)
    for kind in OWNED:
        for found in snapshot.all(kind):
            held = found.metadata
            is_free = not held.controller and not held.is_leaving
            if is_free and held.labels.get(labels.SERVICE_NAME) == name and _is_made(found):
                yield kind, found


def _is_made(found: Whole) -> bool:
    entries = metadata_of(found.decode()).get("managedFields") or ()
    return any(entry.get("manager") in (FIELD_MANAGER, *FORMER_MANAGERS) for entry in entries)
