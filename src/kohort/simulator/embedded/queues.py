"""
The queue ``default``, which Volcano makes when it is installed.

Whoever brings Volcano's definitions to a cluster finds the queue that its groups are in
when they name none, as if its own controllers had come along. It is open.
"""

from collections.abc import Collection, Iterable

from kohort.apis.gangs.definitions.volcano import QUEUE
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind
from kohort.simulator.component import Action, Create, Merge, Moment, Step, View
from kohort.simulator.kinds import DEFINITION
from kohort.simulator.store.entries import StoredObject

DEFAULT = "default"


class DefaultQueue:
    """The component that makes the queue, and opens it. Its only key is the queue's name."""

    name = "default-queue"
    manager = "vc-controller-manager"

    def __init__(self) -> None:
        self.kinds: tuple[Kind, ...] = (DEFINITION,)
        self._is_served = False
        self._has_status = True

    def watch_kinds(self, kinds: Collection[Kind]) -> None:
        """Learn whether there can be queues."""
        self._is_served = QUEUE in kinds
        self._has_status = True
        if self._is_served:
            self.kinds = (DEFINITION, QUEUE)

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """Look again when queues can be, or when the queue changed."""
        entry = new or old
        assert entry is not None
        wanted = QUEUE.group_resource if kind == DEFINITION else DEFAULT
        return (DEFAULT,) if entry.name == wanted else ()

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Make the queue if it is missing, and open it if nobody did."""
        if not self._is_served:
            return Step()
        queue = view.find(QUEUE, "", key)
        if queue is None:
            return Step((Create(QUEUE, {"metadata": {"name": key}, "spec": {"weight": 1}}),))
        state = (queue.decode().get("status") or {}).get("state")
        if state or not self._has_status:
            return Step()
        opened = {"status": {"state": "Open"}}
        return Step((Merge(QUEUE, "", key, opened, subresource="status", uid=queue.uid),))

    def refused(self, key: str, action: Action, error: ClusterError) -> None:
        """Definitions without a status have queues without one."""
        if isinstance(action, Merge):
            self._has_status = False
