"""
The ledger: the node of each placed pod, and all counts derived from it.

Placing and removing a pod are the only two ways in which free room, tallies,
holders and host ports change, so the four can never disagree. Pods whose node
is not known (not seen yet, or gone) stand nowhere until it comes.
"""

from collections import Counter

from kohort.placement.nodes import NodeIndex, NodeState
from kohort.simulator.scheduling.counts.anti_affinity import Holders
from kohort.simulator.scheduling.counts.tallies import TallyBook
from kohort.simulator.scheduling.demands import Demand


class Ledger:
    """All nodes and the pods on them."""

    def __init__(self) -> None:
        self.index = NodeIndex()
        self.book = TallyBook(self.index)
        self.holders = Holders(self.book)
        self.ports: dict[tuple[str, int], int] = {}
        self.freed = 0  # nodes with freed room since the scheduler's last step
        self._on_node: dict[str, dict[str, Demand]] = {}
        self._priorities: Counter[int] = Counter()
        self._reserved: dict[str, tuple[str, Demand]] = {}

    @property
    def lowest_priority(self) -> int:
        """The lowest priority of any pod on a node; very high if there is none."""
        return min(self._priorities, default=1 << 31)

    def place(self, pod: Demand, node: str) -> None:
        """Put a pod on a node."""
        assert not pod.node, "a pod stands on one node only"
        pod.node = node
        self._priorities[pod.priority] += 1
        self._on_node.setdefault(node, {})[pod.uid] = pod
        slot = self.index.slots.get(node)
        if slot is not None:
            self._enter(pod, slot)

    def remove(self, pod: Demand) -> None:
        """Remove a pod from its node."""
        pods = self._on_node[pod.node]
        del pods[pod.uid]
        self._priorities[pod.priority] -= 1
        if not self._priorities[pod.priority]:
            del self._priorities[pod.priority]
        if not pods:
            del self._on_node[pod.node]
        if pod.slot >= 0:
            self.freed |= 1 << pod.slot
            self._leave(pod)
        pod.node = ""

    def reserve(self, pod: Demand, node: str) -> None:
        """Reserve room on a node for a pod whose victims are terminating."""
        self._reserved[pod.uid] = node, pod
        self.index.take(self.index.slots[node], pod.shape.request)

    def unreserve(self, uid: str) -> str:
        """Release a pod's reservation before it is tried again; returns the node, or None."""
        node, pod = self._reserved.pop(uid, ("", None))
        slot = self.index.slots.get(node)
        if pod is not None and slot is not None:
            self.index.take(slot, pod.shape.request, -1)
        return node

    def reserved(self) -> list[str]:
        """The nodes on which room is reserved for pods."""
        return [node for node, _ in self._reserved.values()]

    def offer(self, node: str) -> None:
        """Note that a node may have room, so that waiting pods are tried."""
        slot = self.index.slots.get(node)
        if slot is not None:
            self.freed |= 1 << slot

    def put_node(self, state: NodeState) -> None:
        """Add or update a node."""
        is_new = state.name not in self.index.slots
        slot = self.index.put(state)
        self.freed |= 1 << slot
        if is_new:
            for pod in self._on_node.get(state.name, {}).values():
                self._enter(pod, slot)

    def drop_node(self, name: str) -> None:
        """Remove a node; its pods count nowhere."""
        if name not in self.index.slots:
            return
        for pod in self._on_node.get(name, {}).values():
            self._leave(pod)
        for uid in [uid for uid, (node, _) in self._reserved.items() if node == name]:
            del self._reserved[uid]
        slot = self.index.drop(name)
        # Constraints that count domains may be easier to meet with fewer of them.
        self.freed |= 1 << slot

    def pods_on(self, node: str) -> list[Demand]:
        """The pods on a node, by name."""
        return sorted(self._on_node.get(node, {}).values(), key=lambda pod: pod.key)

    def port_conflicts(self, pod: Demand) -> int:
        """The nodes where a host port that the pod wants is taken."""
        mask = 0
        for port in pod.ports:
            mask |= self.ports.get(port, 0)
        return mask

    def _enter(self, pod: Demand, slot: int) -> None:
        pod.slot = slot
        self.index.take(slot, pod.shape.request)
        for port in pod.ports:
            self.ports[port] = self.ports.get(port, 0) | 1 << slot
        self.book.add(pod)
        if pod.terms.held:
            self.holders.add(pod, pod.terms.held)

    def _leave(self, pod: Demand) -> None:
        if pod.terms.held:
            self.holders.remove(pod, pod.terms.held)
        self.book.remove(pod)
        for port in pod.ports:
            self.ports[port] &= ~(1 << pod.slot)
            if not self.ports[port]:
                del self.ports[port]
        self.index.take(pod.slot, pod.shape.request, -1)
        pod.slot = -1
