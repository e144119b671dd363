"""
What Volcano's own controllers keep in a cluster: the HyperNodes and the queue ``default``.

There is a HyperNode for each node (tier 0), rack (1) and spine (2). They follow the labels of
nodes, as a discovery of a real network would: a node that is added joins its rack, and a rack
without nodes goes. HyperNodes that another client made are left alone.

A user who brings Volcano's definitions to a cluster finds the queue that its groups are in
when they name none, as if its own controllers had come along. It is open.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from kohort.apis.gangs.dialects.volcano import HYPER_NODE, QUEUE
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import DEFINITION, NODE
from kohort.cluster.node_labels import RACK, SPINE
from kohort.cluster.objects import Kind, Object, labels_of
from kohort.simulator.component import (
    ComponentAction,
    CreateRequest,
    DeleteRequest,
    MergeRequest,
    Moment,
    Step,
    View,
)

TIER_NAMES = ("host", "rack", "spine")
SOURCE = "sim.kohort.dev/domains"  # the label of HyperNodes that are ours
_MARK = {SOURCE: "nodes"}


class Domains:
    """The component that makes HyperNodes match the nodes. Its keys are names of domains."""

    name = "domains"
    manager = "kohort-domains"

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = (NODE,)
        self._is_served = False
        self._places: dict[str, tuple[str, str]] = {}  # rack and spine of each node
        self._nodes: dict[str, set[str]] = {}  # of each rack
        self._under: Counter[str] = Counter()  # nodes under each spine

    def watch_kinds(self, kinds: Collection[Kind]) -> None:
        """Note whether the cluster serves HyperNodes."""
        self._is_served = HYPER_NODE in kinds
        if self._is_served:
            self.kinds = (NODE, HYPER_NODE)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of the domains of a changed node."""
        entry = new or old
        assert entry is not None
        name = entry.name
        if kind == HYPER_NODE:
            return (name,)
        before = self._places.get(name)
        after = None
        if new is not None:
            after = (_name(new.labels.get(RACK, "")), _name(new.labels.get(SPINE, "")))
        if before == after:
            return ()
        self._move(name, before, after)
        return dict.fromkeys(filter(None, (name, *(before or ()), *(after or ()))))

    def _move(
        self, node: str, before: tuple[str, str] | None, after: tuple[str, str] | None
    ) -> None:
        if before is not None:
            del self._places[node]
            self._under -= Counter(before[1:])
            self._nodes[before[0]].discard(node)
            if not self._nodes[before[0]]:
                del self._nodes[before[0]]
        if after is not None:
            self._places[node] = after
            self._under[after[1]] += 1
            self._nodes.setdefault(after[0], set()).add(node)

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Create, update or delete one HyperNode."""
        if not self._is_served:
            return Step()
        found = view.find(HYPER_NODE, "", key)
        wanted = self._find_wanted(key)
        if found is None:
            return Step((CreateRequest(HYPER_NODE, _render(key, wanted)),)) if wanted else Step()
        obj = found.decode()
        if labels_of(obj).get(SOURCE) != _MARK[SOURCE]:
            return Step()
        if wanted is None:
            return Step((DeleteRequest(HYPER_NODE, "", key, found.uid),))
        return Step(tuple(_correct(found, obj, wanted)))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""

    def _find_wanted(self, name: str) -> Object | None:
        """The spec of the domain of that name; the widest, where a name is used twice."""
        if name in self._under:
            racks = sorted(r for r in self._nodes if r and self._spine_of(r) == name)
            return _write(2, "HyperNode", racks) if racks else None
        if name in self._nodes:
            return _write(1, "HyperNode", sorted(self._nodes[name]))
        return _write(0, "Node", [name]) if name in self._places else None

    def _spine_of(self, rack: str) -> str:
        """The one spine of a rack, even if labels of its nodes differ."""
        return self._places[min(self._nodes[rack])][1]


def _name(label: str) -> str:
    """A label value as a valid object name."""
    return label.lower().replace("_", "-")


def _write(tier: int, kind: str, members: list[str]) -> Object:
    named = [{"type": kind, "selector": {"exactMatch": {"name": name}}} for name in members]
    return {"tier": tier, "tierName": TIER_NAMES[tier], "members": named}


def _render(name: str, spec: Object) -> Object:
    return {
        "apiVersion": HYPER_NODE.api_version,
        "kind": HYPER_NODE.name,
        "metadata": {"name": name, "labels": dict(_MARK)},
        "spec": spec,
    }


def _correct(entry: StoredObject, obj: Object, spec: Object) -> Iterable[ComponentAction]:
    if obj.get("spec") != spec:
        yield MergeRequest(HYPER_NODE, "", entry.name, {"spec": spec}, uid=entry.uid)
    count = len(spec["members"])
    if (obj.get("status") or {}).get("nodeCount") != count:
        status = {"status": {"nodeCount": count}}
        yield MergeRequest(HYPER_NODE, "", entry.name, status, "status", entry.uid)


DEFAULT = "default"


class DefaultQueue:
    """The component that creates the queue and opens it. Its only key is the queue's name."""

    name = "default-queue"
    manager = "vc-controller-manager"

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = (DEFINITION,)
        self._is_served = False
        self._has_status = True

    def watch_kinds(self, kinds: Collection[Kind]) -> None:
        """Note whether the cluster serves queues."""
        self._is_served = QUEUE in kinds
        self._has_status = True
        if self._is_served:
            self.kinds = (DEFINITION, QUEUE)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The queue's key, when queues become served or the queue changed."""
        entry = new or old
        assert entry is not None
        wanted = QUEUE.group_resource if kind == DEFINITION else DEFAULT
        return (DEFAULT,) if entry.name == wanted else ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Create the queue if it is missing, and set its state to Open."""
        if not self._is_served:
            return Step()
        queue = view.find(QUEUE, "", key)
        if queue is None:
            return Step((CreateRequest(QUEUE, {"metadata": {"name": key}, "spec": {"weight": 1}}),))
        state = (queue.decode().get("status") or {}).get("state")
        if state or not self._has_status:
            return Step()
        opened = {"status": {"state": "Open"}}
        return Step((MergeRequest(QUEUE, "", key, opened, subresource="status", uid=queue.uid),))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Ignore a refused status: the installed definition may have no status."""
        if isinstance(action, MergeRequest):
            self._has_status = False
