"""
Lines of units that another controller runs: we only tell it numbers.

A Deployment, a StatefulSet or a LeaderWorkerSet rolls and repairs its units itself. We read a
tally from its status; a status older than the last change of the spec counts no unit as updated.
We write its replicas and, where the kind has one, its partition: the ordinal below which units
stay as they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kohort.cluster.actions import Action, Patch
from kohort.cluster.objects import Kind, Object, name_of, namespace_of, uid_of
from kohort.cluster.port import Address
from kohort.model.observed import Tally
from kohort.model.plans import Step

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments")
STATEFUL_SET = Kind("apps", "v1", "StatefulSet", "statefulsets")
LEADER_WORKER_SET = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")


@dataclass(frozen=True, slots=True)
class Delegate:
    """A kind whose controller runs a line for us: where its numbers stand."""

    kind: Kind
    exist: str  # fields of the status
    ready: str
    updated: str
    partition: tuple[str, ...] = ()  # path in the spec; empty: the kind has no partition
    is_settled: Callable[[Object], bool] = lambda obj: True


DELEGATES = {
    delegate.kind: delegate
    for delegate in (
        Delegate(DEPLOYMENT, "replicas", "readyReplicas", "updatedReplicas"),
        Delegate(
            STATEFUL_SET,
            "replicas",
            "readyReplicas",
            "updatedReplicas",
            ("updateStrategy", "rollingUpdate", "partition"),
        ),
        Delegate(
            LEADER_WORKER_SET,
            "replicas",
            "readyReplicas",
            "updatedReplicas",
            ("rolloutStrategy", "rollingUpdateConfiguration", "partition"),
        ),
    )
}


def read_tally(obj: Object) -> Tally:
    """The numbers that the other controller reports of its line."""
    delegate = _find(obj)
    status, metadata = obj.get("status") or {}, obj["metadata"]
    is_seen = int(status.get("observedGeneration") or 0) >= int(metadata.get("generation") or 0)
    updated = int(status.get(delegate.updated) or 0) if is_seen else 0
    ready = int(status.get(delegate.ready) or 0)
    return Tally(
        wanted=int((obj.get("spec") or {}).get("replicas", 1)),
        exist=int(status.get(delegate.exist) or 0),
        ready=ready,
        updated=updated,
        # No status says which ready units are updated: at least this many are.
        updated_ready=max(0, updated + ready - int(status.get(delegate.exist) or 0)),
        is_seen=is_seen,
    )


def patch_numbers(obj: Object, step: Step) -> Iterator[Action]:
    """Patch replicas and partition of the other controller's object to the numbers of a step."""
    delegate, spec = _find(obj), obj.get("spec") or {}
    change: Object = {}
    if spec.get("replicas", 1) != step.rollout.count:
        change["replicas"] = step.rollout.count
    if delegate.partition and _partition_of(spec, delegate.partition) != step.rollout.boundary:
        change |= _nest(delegate.partition, step.rollout.boundary)
    if change:
        kind = delegate.kind
        body = {"metadata": {"uid": uid_of(obj)}, "spec": change}
        why = f"{kind.name} {name_of(obj)}: {' and '.join(change)} differ"
        yield Patch(Address(kind, namespace_of(obj), name_of(obj)), body, why=why)


def _find(obj: Object) -> Delegate:
    group = obj["apiVersion"].rpartition("/")[0]
    for kind, delegate in DELEGATES.items():
        if (kind.group, kind.name) == (group, obj["kind"]):
            return delegate
    raise ValueError(f"{obj['apiVersion']} {obj['kind']} cannot carry a line")


def _partition_of(spec: Object, path: tuple[str, ...]) -> int:
    found: object = spec
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, int) else 0


def _nest(path: tuple[str, ...], value: int) -> Object:
    body: object = value
    for key in reversed(path):
        body = {key: body}
    assert isinstance(body, dict)
    return body
