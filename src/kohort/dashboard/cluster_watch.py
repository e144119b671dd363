"""
The caches of objects beside workloads: nodes, all pods, events, leases, domains.

Each of them is optional: a user who may not list nodes sees workloads without them. Pods are kept
in few fields, since a cluster has many and only their place and their GPUs are shown.
"""

from collections.abc import Callable, Iterable
from typing import Any

import orjson

from kohort.apis.facts import Whole
from kohort.apis.gangs.known import DOMAIN
from kohort.apis.home import Home
from kohort.cluster.kinds import EVENT, LEASE, NODE, POD
from kohort.cluster.objects import Object
from kohort.cluster.port import Selection
from kohort.controller.caches.cache import Cache, Difference
from kohort.controller.caches.informers import Informers
from kohort.surveys import Survey
from kohort.views.evidence.cluster import (
    GONE,
    ClusterFacts,
    NodeState,
    OperatorState,
    find_subject,
    read_lease,
    read_node,
)

_ABOUT = "about"
_SPEC_FIELDS = ("nodeName", "containers", "initContainers", "overhead", "resources")


class Decoded:
    """An object as a dictionary, decoded once, when it is first read."""

    __slots__ = ("_obj", "_raw", "_read")

    def __init__(self, raw: bytes, read: Callable[[bytes], Object]) -> None:
        self._raw, self._read = raw, read
        self._obj: Object | None = None

    @property
    def obj(self) -> Object:
        """The object."""
        if self._obj is None:
            self._obj, self._raw = self._read(self._raw), b""
        return self._obj


def decode_whole(raw: bytes) -> Decoded:
    """An object with all its fields."""
    made = Decoded(raw, orjson.loads)
    assert made.obj is not None  # the cache leaves undecodable objects out
    return made


def decode_pod(raw: bytes) -> Decoded:
    """A pod with the fields about its node and requests, decoded on demand."""
    return Decoded(raw, read_pod)


def read_pod(raw: bytes) -> Object:
    """The fields of a pod about its node and its requests."""
    pod = orjson.loads(raw)
    spec, metadata = pod.get("spec") or {}, pod.get("metadata") or {}
    kept = {name: spec[name] for name in _SPEC_FIELDS if name in spec}
    for field in ("containers", "initContainers"):
        if field in kept:
            kept[field] = [_keep_amounts(each) for each in kept[field]]
    return {
        "metadata": {k: metadata[k] for k in ("name", "namespace", "uid") if k in metadata},
        "spec": kept,
        "status": {"phase": (pod.get("status") or {}).get("phase", "")},
    }


def _keep_amounts(container: Object) -> Object:
    kept = ("name", "resources", "restartPolicy")
    return {name: container[name] for name in kept if name in container}


def index_subject(event: Decoded) -> Iterable[str]:
    """The uid of the object that an event is about."""
    uid = find_subject(event.obj).get("uid")
    return (uid,) if uid else ()


class ListedNodes(dict[str, NodeState]):
    """The states of all nodes: a node that is not listed has been deleted."""

    def get(self, name: str, default: Any = None) -> Any:
        """The state of a node."""
        return super().get(name, GONE if name else default)


class ClusterWatch:
    """Watches nodes, pods, events, leases and domains."""

    def __init__(
        self, informers: Informers, namespace: str, homes: Iterable[Home], ring: Callable[[], None]
    ) -> None:
        self._informers = informers
        add = informers.add
        self.nodes: Cache[Decoded] = add(Selection(NODE), decode_whole, optional=True)
        self.pods: Cache[Decoded] = add(Selection(POD, namespace), decode_pod, optional=True)
        self.hypernodes: Cache[Decoded] = add(Selection(DOMAIN), decode_whole, optional=True)
        self.events: Cache[Decoded] = add(
            Selection(EVENT, namespace), decode_whole, {_ABOUT: index_subject}, optional=True
        )
        self._leases: dict[Home, Cache[Whole]] = {
            home: add(
                Selection(LEASE, home.namespace, fields=f"metadata.name={home.lease}"),
                Whole,
                optional=True,
            )
            for home in dict.fromkeys(homes)
        }
        self._facts: dict[Home, ClusterFacts] = {}
        self._survey: Survey | None = None
        self.map_version = 0  # rises whenever a node or the node of a pod changes
        self._ring = ring
        self._follow()

    def _follow(self) -> None:
        for cache in (self.nodes, self.pods, self.hypernodes):
            cache.subscribe(self._take_place)
        for cache in (self.nodes, self.events):
            cache.subscribe(self._forget_facts)
        for lease in self._leases.values():
            lease.subscribe(self._forget_facts)

    def _take_place(self, difference: Difference[Decoded]) -> None:
        old, new = difference.old, difference.new
        if old is not None and new is not None and _is_same_place(old.value.obj, new.value.obj):
            return
        self._survey = None
        self.map_version += 1
        self._ring()

    def _forget_facts(self, difference: Difference[Any]) -> None:
        self._facts = {}

    @property
    def are_nodes_seen(self) -> bool:
        """Whether the user may list nodes and pods."""
        absent = self._informers.absent
        return not any(cache.selection in absent for cache in (self.nodes, self.pods))

    def read_survey(self) -> Survey:
        """The survey of nodes and pods, from the caches."""
        if self._survey is None:
            nodes, pods, domains = (
                [entry.value.obj for entry in cache]
                for cache in (self.nodes, self.pods, self.hypernodes)
            )
            self._survey = Survey(nodes, pods, domains)
        return self._survey

    def read_facts(self, home: Home) -> ClusterFacts:
        """The cluster's facts about workloads: warnings, nodes and the operator's lease."""
        if home not in self._facts:
            nodes = self._read_nodes() if self.nodes.is_ready else {}
            events = (entry.value.obj for entry in self.events)
            warnings = [event for event in events if event.get("type") == "Warning"]
            self._facts[home] = ClusterFacts(nodes, warnings, self._read_operator(home))
        return self._facts[home]

    def _read_nodes(self) -> "ListedNodes":
        return ListedNodes({entry.key[1]: read_node(entry.value.obj) for entry in self.nodes})

    def _read_operator(self, home: Home) -> OperatorState | None:
        lease = next(iter(self._leases[home]), None)
        return read_lease(lease.value.decode()) if lease is not None else None

    def list_events(self, uids: Iterable[str]) -> list[Object]:
        """The events about objects."""
        return [event.obj for uid in uids if uid for event in self.events.select(_ABOUT, uid)]


def _is_same_place(old: Object, new: Object) -> bool:
    """Whether a change of a node or pod, such as a heartbeat, does not change the map."""
    return _read_place(old) == _read_place(new)


def _read_place(obj: Object) -> object:
    status: Object = obj.get("status") or {}
    conditions = [(c.get("type"), c.get("status")) for c in status.get("conditions") or ()]
    metadata: Object = obj.get("metadata") or {}
    return (
        obj.get("spec"),
        metadata.get("labels"),
        metadata.get("annotations"),
        status.get("phase"),
        status.get("allocatable"),
        conditions,
    )
