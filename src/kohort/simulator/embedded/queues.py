"""
Volcano's queue ``default``, which its installation creates.

Where a user installs Volcano's definitions, this component creates the queue for groups that
name none, as Volcano's own controllers would. The queue is open.
"""

from collections.abc import Collection, Iterable

from kohort.apis.gangs.dialects.volcano import QUEUE
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster.errors import ClusterError
from kohort.cluster.kinds import DEFINITION
from kohort.cluster.objects import Kind
from kohort.simulator.component import Action, Create, Merge, Moment, Step, View

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
            return Step((Create(QUEUE, {"metadata": {"name": key}, "spec": {"weight": 1}}),))
        state = (queue.decode().get("status") or {}).get("state")
        if state or not self._has_status:
            return Step()
        opened = {"status": {"state": "Open"}}
        return Step((Merge(QUEUE, "", key, opened, subresource="status", uid=queue.uid),))

    def refused(self, key: str, action: Action, error: ClusterError) -> None:
        """Ignore a refused status: the installed definition may have no status."""
        if isinstance(action, Merge):
            self._has_status = False
