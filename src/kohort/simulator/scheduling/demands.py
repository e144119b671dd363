"""
Demands: the fields of a pod that the scheduler keeps.

Only the fields that placement depends on are decoded, and the larger ones stay
bytes until two pods differ in them: pods of one set are written alike, so rules,
requests and terms are compiled once and found again by those bytes.
"""

from typing import Any

import msgspec

from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.objects import Object
from kohort.placement.amounts import Amounts, read_amounts, sum_requests
from kohort.placement.nodes import PODS
from kohort.placement.rules import NodeRule, read_tolerations
from kohort.simulator.scheduling.counts.tallies import TallyBook
from kohort.simulator.scheduling.counts.terms import Terms, TermSource, compile_terms
from kohort.simulator.scheduling.gangs.requests import find_gang, find_role
from kohort.simulator.scheduling.shapes import Shape

_NONE = msgspec.Raw(b"null")
# The cache holds at most so many shapes; others are compiled again.
CACHED_MAX = 2048


class _Port(msgspec.Struct, gc=False, rename="camel"):
    host_port: int = 0
    protocol: str = "TCP"


class _Container(msgspec.Struct, rename="camel"):
    resources: msgspec.Raw = _NONE
    ports: list[_Port] = []
    restart_policy: str = ""


class _Affinity(msgspec.Struct, rename="camel"):
    node_affinity: msgspec.Raw = _NONE
    pod_affinity: msgspec.Raw = _NONE
    pod_anti_affinity: msgspec.Raw = _NONE


class _ClaimSource(msgspec.Struct, gc=False, rename="camel"):
    claim_name: str = ""


class _Volume(msgspec.Struct, rename="camel"):
    name: str = ""
    persistent_volume_claim: _ClaimSource | None = None
    ephemeral: dict[str, Any] | None = None


class _SchedulingGroup(msgspec.Struct, gc=False, rename="camel"):
    pod_group_name: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    scheduler_name: str = "default-scheduler"
    containers: list[_Container] = []
    init_containers: list[_Container] | None = None
    node_selector: msgspec.Raw = _NONE
    tolerations: msgspec.Raw = _NONE
    affinity: _Affinity | None = None
    topology_spread_constraints: msgspec.Raw = _NONE
    overhead: msgspec.Raw = _NONE
    resources: msgspec.Raw = _NONE
    priority: int | None = None
    preemption_policy: str | None = None
    scheduling_gates: list[Any] | None = None
    volumes: list[_Volume] | None = None
    scheduling_group: _SchedulingGroup | None = None


class _Metadata(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Status(msgspec.Struct, rename="camel"):
    conditions: list[Object] | None = None


class _Pod(msgspec.Struct, rename="camel"):
    spec: _Spec
    metadata: _Metadata
    status: _Status | None = None


_decoder = msgspec.json.Decoder(_Pod)


class Demand:
    """One pod that waits for a node or has one."""

    __slots__ = (
        "annotations",
        "claims",
        "conditions",
        "created",
        "gang",
        "generation",
        "is_gated",
        "is_leaving",
        "labels",
        "may_preempt",
        "name",
        "namespace",
        "node",
        "ports",
        "priority",
        "profile",
        "role",
        "rv",
        "shape",
        "slot",
        "terms",
        "uid",
    )

    def __init__(self, entry: StoredObject, raw: _Pod, shape: Shape, terms: Terms) -> None:
        meta, spec = entry.facts.metadata, raw.spec
        self.namespace, self.name = entry.key
        self.uid = entry.uid
        self.rv = entry.rv
        self.labels = entry.labels
        self.generation = meta.generation
        self.created = meta.creation_timestamp
        self.is_leaving = meta.deletion_timestamp is not None
        self.shape = shape
        self.terms = terms
        self.profile = spec.scheduler_name
        self.priority = spec.priority or 0
        self.may_preempt = spec.preemption_policy != "Never"
        self.is_gated = bool(spec.scheduling_gates)
        self.ports = _host_ports(spec)
        self.claims = _claims(spec, self.name)
        self.conditions = (raw.status.conditions if raw.status else None) or []
        self.node = ""
        self.slot = -1
        annotations = raw.metadata.annotations or {}
        native = spec.scheduling_group.pod_group_name if spec.scheduling_group else ""
        self.gang = find_gang(self.profile, self.namespace, annotations, self.labels, native)
        # Other pods' fields are not needed again, and there may be many pods.
        self.annotations = annotations if self.gang else {}
        self.role = find_role(annotations, self.labels) if self.gang else ""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def order(self) -> tuple[int, str, str, str]:
        """The place in the queue: priority, then age, then name."""
        return -self.priority, self.created, self.namespace, self.name

    def about(self) -> Object:
        """The pod, as an event refers to it."""
        metadata = {
            "name": self.name,
            "namespace": self.namespace,
            "uid": self.uid,
            "resourceVersion": str(self.rv),
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


class DemandReader:
    """Reads pods and shares what they have in common."""

    def __init__(self, book: TallyBook) -> None:
        self._book = book
        self._rules: dict[tuple[bytes, bytes, bytes], NodeRule] = {}
        self._shapes: dict[tuple[NodeRule, tuple[bytes, ...]], Shape] = {}
        self._terms: dict[object, Terms] = {}
        self._nothing = Terms()

    def read(self, entry: StoredObject) -> Demand:
        """What the scheduler keeps of a pod; give it back with ``release``."""
        raw = _decoder.decode(entry.raw)
        rule = self._rule(raw.spec)
        terms = self._read_terms(entry, raw.spec, rule)
        terms.users += 1
        return Demand(entry, raw, self._shape(raw.spec, rule), terms)

    def release(self, demand: Demand) -> None:
        """Release the compiled parts that only this pod used."""
        terms = demand.terms
        terms.users -= 1
        if terms.users == 0 and terms is not self._nothing:
            for tally in terms.tallies:
                self._book.close(tally)
            del self._terms[terms.key]

    def _rule(self, spec: _Spec) -> NodeRule:
        affinity = spec.affinity.node_affinity if spec.affinity else _NONE
        key = (bytes(spec.node_selector), bytes(affinity), bytes(spec.tolerations))
        rule = self._rules.get(key)
        if rule is None:
            if len(self._rules) > CACHED_MAX:
                self._rules.clear()
            tolerations = read_tolerations(_load(spec.tolerations))
            rule = NodeRule(_load(spec.node_selector) or {}, _load(affinity) or {}, tolerations)
            self._rules[key] = rule
        return rule

    def _shape(self, spec: _Spec, rule: NodeRule) -> Shape:
        starters = spec.init_containers or []
        key = (
            rule,
            (
                *(bytes(container.resources) for container in spec.containers),
                *(container.restart_policy.encode() for container in starters),
                *(bytes(container.resources) for container in starters),
                bytes(spec.overhead),
                bytes(spec.resources),
            ),
        )
        shape = self._shapes.get(key)
        if shape is None:
            if len(self._shapes) > CACHED_MAX:
                self._shapes.clear()
            shape = self._shapes[key] = Shape(rule, _read_request(spec))
        return shape

    def _read_terms(self, entry: StoredObject, spec: _Spec, rule: NodeRule) -> Terms:
        affinity, spreads = spec.affinity, bytes(spec.topology_spread_constraints)
        near = bytes(affinity.pod_affinity) if affinity else b"null"
        far = bytes(affinity.pod_anti_affinity) if affinity else b"null"
        if near == far == b"null" and spreads in (b"null", b"[]"):
            return self._nothing
        key: tuple[Any, ...] = (entry.namespace, near, far, spreads)
        if spreads not in (b"null", b"[]"):
            key = (*key, rule)
        if any(b"LabelKeys" in part for part in (near, far, spreads)):
            key = (*key, tuple(sorted(entry.labels.items())))
        terms = self._terms.get(key)
        if terms is None:
            source = TermSource(
                entry.namespace,
                entry.labels,
                rule,
                _load(near) or {},
                _load(far) or {},
                _load(spreads) or [],
            )
            terms = self._terms[key] = compile_terms(source, self._book)
            terms.key = key
        return terms


def _read_request(spec: _Spec) -> Amounts:
    def requests(container: _Container) -> Amounts:
        return read_amounts((_load(container.resources) or {}).get("requests"))

    total = sum_requests(
        [requests(container) for container in spec.containers],
        [(requests(c), c.restart_policy == "Always") for c in spec.init_containers or ()],
        read_amounts((_load(spec.resources) or {}).get("requests")),
        read_amounts(_load(spec.overhead)),
    )
    request = {name: amount for name, amount in total.items() if amount}
    return {**request, PODS: 1}


def _host_ports(spec: _Spec) -> tuple[tuple[str, int], ...]:
    return tuple(
        (port.protocol, port.host_port)
        for container in spec.containers
        for port in container.ports
        if port.host_port
    )


def _claims(spec: _Spec, name: str) -> tuple[str, ...]:
    claims = []
    for volume in spec.volumes or ():
        if volume.persistent_volume_claim:
            claims.append(volume.persistent_volume_claim.claim_name)
        elif volume.ephemeral is not None:
            claims.append(f"{name}-{volume.name}")
    return tuple(claims)


def _load(raw: msgspec.Raw | bytes) -> Any:
    return msgspec.json.decode(raw)
