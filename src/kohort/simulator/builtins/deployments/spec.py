"""
A Deployment and its ReplicaSets as the controller reads them.

A ReplicaSet is one generation of the Deployment's pods. The annotations on it
are the controller's memory: its revision, and how large the Deployment was
when it was last scaled, from which a change of size is told from a rollout.
"""

from dataclasses import dataclass

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.objects import Object, annotations_of, labels_of
from kohort.cluster.selectors import LabelSelector, read_label_selector
from kohort.simulator.builtins.amounts import resolve
from kohort.simulator.builtins.names import canonical

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REVISION_HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
# A deadline of this length means that there is none.
_NO_DEADLINE = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Rollout:
    """The settings of one Deployment."""

    obj: Object
    entry: StoredObject
    selector: LabelSelector
    replicas: int
    is_rolling: bool
    is_paused: bool
    surge: int
    unavailable: int
    min_ready: int
    history_limit: int
    deadline: int | None

    @property
    def name(self) -> str:
        """The Deployment's name."""
        return self.entry.name

    @property
    def status(self) -> Object:
        """The status as it was last seen."""
        return self.obj.get("status") or {}

    @property
    def maximum(self) -> int:
        """The most pods that may exist, including the surge."""
        return self.replicas + self.surge

    @property
    def minimum(self) -> int:
        """How many pods must stay available."""
        return self.replicas - self.unavailable

    @property
    def owner(self) -> Object:
        """The reference that the ReplicaSets carry."""
        return {
            "apiVersion": DEPLOYMENT.api_version,
            "kind": DEPLOYMENT.name,
            "name": self.entry.name,
            "uid": self.entry.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


def read_rollout(entry: StoredObject) -> Rollout:
    """The settings of a stored Deployment."""
    obj = entry.decode()
    spec = obj["spec"]
    strategy = spec.get("strategy") or {}
    rolling = strategy.get("rollingUpdate") or {}
    is_rolling = strategy.get("type", "RollingUpdate") == "RollingUpdate"
    replicas = int(spec.get("replicas", 1))
    surge = unavailable = 0
    if is_rolling:
        surge = resolve(rolling.get("maxSurge", "25%"), replicas, round_up=True)
        unavailable = resolve(rolling.get("maxUnavailable", "25%"), replicas, round_up=False)
        if surge == unavailable == 0:
            # Both may round to nothing, but then no rollout could ever move.
            unavailable = 1
    deadline = int(spec.get("progressDeadlineSeconds", 600))
    return Rollout(
        obj=obj,
        entry=entry,
        selector=read_label_selector(spec.get("selector")),
        replicas=replicas,
        is_rolling=is_rolling,
        is_paused=bool(spec.get("paused")),
        surge=surge,
        unavailable=min(unavailable, replicas),
        min_ready=int(spec.get("minReadySeconds", 0)),
        history_limit=int(spec.get("revisionHistoryLimit", 10)),
        deadline=None if deadline == _NO_DEADLINE else deadline,
    )


@dataclass(slots=True)
class Generation:
    """One ReplicaSet of a Deployment; ``size`` is changed as the plan is made."""

    obj: Object
    entry: StoredObject | None  # None: still to be created
    name: str
    size: int
    created: str

    @property
    def status(self) -> Object:
        """The status as it was last seen."""
        return self.obj.get("status") or {}

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations, which are the controller's memory."""
        return annotations_of(self.obj)

    @property
    def available(self) -> int:
        """How many of its pods are available."""
        return int(self.status.get("availableReplicas", 0))

    @property
    def revision(self) -> int:
        """Its place in the history."""
        return read_number(self.annotations.get(REVISION)) or 0

    @property
    def was_size(self) -> int:
        """The replicas in its stored spec."""
        return int(self.obj["spec"].get("replicas", 1)) if self.entry else 0


def read_generation(entry: StoredObject) -> Generation:
    """A stored ReplicaSet."""
    obj = entry.decode()
    size = int(obj["spec"].get("replicas", 1))
    return Generation(obj, entry, entry.name, size, entry.facts.metadata.creation_timestamp)


def bare_template(obj: Object) -> bytes:
    """The pod template of a Deployment or ReplicaSet without the hash label, to compare."""
    template = obj["spec"]["template"]
    metadata = template.get("metadata") or {}
    labels = {k: v for k, v in labels_of(template).items() if k != HASH_LABEL}
    return canonical({**template, "metadata": {**metadata, "labels": labels}})


def read_number(text: str | None) -> int | None:
    """A number in an annotation; None if it is missing or invalid."""
    return int(text) if text and text.isdecimal() else None
