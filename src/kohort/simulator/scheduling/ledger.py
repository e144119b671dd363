"""
The ledger: which pod stands on which node, and everything counted from that.

Placing and removing a pod are the only two ways in which free room, tallies,
holders and host ports change, so the four can never disagree. Pods whose node
is not known (not seen yet, or gone) stand nowhere until it comes.
"""

from kohort.simulator.scheduling.counting.holders import Holders
from kohort.simulator.scheduling.counting.tallies import TallyBook
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.nodes import NodeIndex, NodeState


class Ledger:
    """All nodes and the pods on them."""

    def __init__(self) -> None:
        self.index = NodeIndex()
        self.book = TallyBook(self.index)
        self.holders = Holders(self.book)
        self.ports: dict[tuple[str, int], int] = {}
        self.freed = 0  # nodes on which room was given back since somebody looked
        self._on_node: dict[str, dict[str, Demand]] = {}

    def place(self, pod: Demand, node: str) -> None:
        """Put a pod on a node."""
        assert not pod.node, "a pod stands on one node only"
        pod.node = node
        self._on_node.setdefault(node, {})[pod.uid] = pod
        slot = self.index.slots.get(node)
        if slot is not None:
            self._enter(pod, slot)

    def remove(self, pod: Demand) -> None:
        """Take a pod off its node."""
        pods = self._on_node[pod.node]
        del pods[pod.uid]
        if not pods:
            del self._on_node[pod.node]
        if pod.slot >= 0:
            self.freed |= 1 << pod.slot
            self._leave(pod)
        pod.node = ""

    def put_node(self, state: NodeState) -> None:
        """Learn of a node, or of its new state."""
        is_new = state.name not in self.index.slots
        slot = self.index.put(state)
        self.freed |= 1 << slot
        if is_new:
            for pod in self._on_node.get(state.name, {}).values():
                self._enter(pod, slot)

    def drop_node(self, name: str) -> None:
        """Forget a node; its pods stand nowhere."""
        if name not in self.index.slots:
            return
        for pod in self._on_node.get(name, {}).values():
            self._leave(pod)
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
        self.index.take(pod.slot, pod.shape.request, -1)
        pod.slot = -1
