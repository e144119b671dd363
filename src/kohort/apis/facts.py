"""
Facts: the fields that the operator caches of the objects it watches.

Caches hold these instead of whole objects: a pod costs a tenth of its JSON. They are
partial, so the operator compares and reads them and never writes them back. Objects that it
compares field by field keep their JSON beside the facts.
"""

from typing import Any, TypeVar

import msgspec
import orjson

from kohort.apis.details import read_details
from kohort.apis.edits import Edit
from kohort.cluster.objects import Object

# The exceptions of a decoder for an object that does not fit its kind.
UNDECODABLE = (
    msgspec.MsgspecError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    RecursionError,
)


class Owner(msgspec.Struct, gc=False, rename="camel"):
    """One owner reference."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class Meta(msgspec.Struct, rename="camel"):
    """The metadata that planning uses."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[Owner] = []
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    finalizers: list[str] = []

    @property
    def controller(self) -> str:
        """The uid of the controlling owner, or nothing."""
        for owner in self.owner_references:
            if owner.controller:
                return owner.uid
        return ""

    @property
    def owner(self) -> str:
        """The uid of the owner that the object lives by: the controller, else the first."""
        return self.controller or next((owner.uid for owner in self.owner_references), "")

    @property
    def is_leaving(self) -> bool:
        """Whether the object is being deleted."""
        return self.deletion_timestamp is not None


class Condition(msgspec.Struct, gc=False, rename="camel"):
    """One condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    last_transition_time: str | None = None


class Restarts(msgspec.Struct, gc=False, rename="camel"):
    """The restarts of a container, and its current and last state."""

    name: str = ""
    restart_count: int = 0
    state: dict[str, Any] = {}
    last_state: dict[str, Any] = {}


class PodSpecFacts(msgspec.Struct, gc=False, rename="camel"):
    """The node and the scheduler of a pod."""

    node_name: str = ""
    scheduler_name: str = ""


class PodStatusFacts(msgspec.Struct, rename="camel"):
    """The phase, conditions and containers of a pod."""

    phase: str = ""
    conditions: list[Condition] | None = None
    container_statuses: list[Restarts] | None = None
    init_container_statuses: list[Restarts] | None = None


class PodFacts(msgspec.Struct, rename="camel"):
    """The cached fields of a pod."""

    metadata: Meta
    spec: PodSpecFacts = msgspec.field(default_factory=PodSpecFacts)
    status: PodStatusFacts = msgspec.field(default_factory=PodStatusFacts)
    details: dict[str, Any] | None = None  # of a pod that is not ready, or is leaving
    edits: tuple[Edit, ...] = ()  # by other clients than its maker, as far as they matter
    is_admitted: bool = True  # false: created while our webhook was not called

    @property
    def is_ready(self) -> bool:
        """Whether the pod runs and its Ready condition is true."""
        found = self.ready_condition
        return found is not None and found.status == "True" and self.status.phase == "Running"

    @property
    def ready_condition(self) -> Condition | None:
        """The pod's Ready condition."""
        return next((c for c in self.status.conditions or () if c.type == "Ready"), None)

    @property
    def has_ended(self) -> bool:
        """Whether all containers of the pod have ended, and none will start again."""
        return self.status.phase in ("Failed", "Succeeded")

    @property
    def restarts(self) -> int:
        """The number of restarts of all containers of the pod."""
        status = self.status
        seen = [*(status.container_statuses or ()), *(status.init_container_statuses or ())]
        return sum(container.restart_count for container in seen)

    @property
    def waits_for(self) -> str:
        """The reason for which a container waits to run, or nothing."""
        for container in self.status.container_statuses or ():
            waiting = container.state.get("waiting") or {}
            if waiting.get("reason"):
                return str(waiting["reason"])
        return ""


class SetSpecFacts(msgspec.Struct, rename="camel"):
    """The replicas and update strategy in a StatefulSet's spec."""

    replicas: int = 1
    update_strategy: dict[str, Any] = {}

    @property
    def partition(self) -> int:
        """The ordinal from which the StatefulSet controller updates pods."""
        rolling = self.update_strategy.get("rollingUpdate") or {}
        return int(rolling.get("partition") or 0)


class SetStatusFacts(msgspec.Struct, gc=False, rename="camel"):
    """The numbers and revisions in a StatefulSet's status."""

    observed_generation: int = 0
    replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""


class SetFacts(msgspec.Struct, rename="camel"):
    """The cached fields of a StatefulSet."""

    metadata: Meta
    spec: SetSpecFacts = msgspec.field(default_factory=SetSpecFacts)
    status: SetStatusFacts = msgspec.field(default_factory=SetStatusFacts)
    raw: bytes = b""  # the JSON, for a set that is compared field by field
    edits: tuple[Edit, ...] = ()  # of its template, by other clients
    scaled_by: str = ""  # the other client that has set its replicas, if any

    @property
    def is_settled(self) -> bool:
        """Whether all pods of the StatefulSet are available, on one revision."""
        status = self.status
        return (
            status.available_replicas == self.spec.replicas
            and status.current_revision == status.update_revision
        )


class NodeCondition(msgspec.Struct, gc=False, rename="camel"):
    """One condition of a node, and since when."""

    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class NodeStatusFacts(msgspec.Struct):
    """The conditions of a node."""

    conditions: list[NodeCondition] | None = None


class NodeFacts(msgspec.Struct):
    """A node: its labels matter to placement, its readiness explains why pods fail."""

    metadata: Meta
    status: NodeStatusFacts = msgspec.field(default_factory=NodeStatusFacts)

    @property
    def is_ready(self) -> bool:
        """Whether the node's Ready condition is true."""
        return any(c.type == "Ready" and c.status == "True" for c in self.status.conditions or ())

    @property
    def ready_since(self) -> str | None:
        """Since when the node has been ready, or not ready."""
        ready = (c for c in self.status.conditions or () if c.type == "Ready")
        return next((c.last_transition_time for c in ready), None)


class Whole:
    """An object that is compared field by field: its metadata, and its JSON, decoded on demand."""

    __slots__ = ("metadata", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self.metadata = _head.decode(raw).metadata

    def decode(self) -> Object:
        """The whole object, as a fresh dictionary."""
        decoded: Object = orjson.loads(self.raw)
        return decoded


class Head(msgspec.Struct):
    """An object of which the cache keeps only the metadata."""

    metadata: Meta


_head = msgspec.json.Decoder(Head)
_pod = msgspec.json.Decoder(PodFacts)
_set = msgspec.json.Decoder(SetFacts)
_node = msgspec.json.Decoder(NodeFacts)


def read_pod(raw: bytes) -> PodFacts:
    """Decode a pod, with details if it is not ready or is leaving."""
    return add_details(_pod.decode(raw), raw)


P = TypeVar("P", bound=PodFacts)


def add_details(pod: P, raw: bytes) -> P:
    """Add the details of why a pod is not ready, if it is not."""
    is_serving = pod.is_ready and not pod.metadata.is_leaving
    pod.details = None if is_serving else read_details(raw)
    return pod


read_node = _node.decode
read_set = _set.decode
