"""
Lines of units that another controller runs, read as numbers.

A Deployment, a StatefulSet or a LeaderWorkerSet rolls and repairs its units itself. We read a
tally from its status; a status older than the last change of the spec counts no unit as updated.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.objects import Kind, Object
from kohort.model.observed import Tally

LEADER_WORKER_SET = Kind("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets")


@dataclass(frozen=True, slots=True)
class Delegate:
    """A kind whose controller runs a line for us: where its numbers stand."""

    kind: Kind
    exist: str  # fields of the status
    ready: str
    updated: str
    partition: tuple[str, ...] = ()  # where the spec has it; empty: the kind has none
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
        boundary=_read_partition(obj.get("spec") or {}, delegate.partition),
    )


def _read_partition(spec: Object, path: tuple[str, ...]) -> int | None:
    """The partition of a spec, which may be left out where it is 0."""
    if not path:
        return None
    for field in path[:-1]:
        spec = spec.get(field) or {}
    return int(spec.get(path[-1]) or 0)


def _find(obj: Object) -> Delegate:
    group = obj["apiVersion"].rpartition("/")[0]
    for kind, delegate in DELEGATES.items():
        if (kind.group, kind.name) == (group, obj["kind"]):
            return delegate
    raise ValueError(f"{obj['apiVersion']} {obj['kind']} cannot carry a line")
