"""
The quota controller: keeps the status of each ResourceQuota true.

The API itself refuses what is too much, from the store; the status is for people.
"""

from collections.abc import Iterable

from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind
from kohort.simulator import kinds
from kohort.simulator.component import Action, Merge, Moment, Step, View
from kohort.simulator.resources.quotas import add_up, show_amounts, use_of
from kohort.simulator.store.entries import StoredObject

_COUNTED = (
    *(kinds.POD, kinds.SERVICE, kinds.SECRET, kinds.CONFIG_MAP, kinds.CLAIM),
    *(kinds.REPLICATION_CONTROLLER, kinds.JOB, kinds.CRON_JOB, kinds.DEPLOYMENT),
    *(kinds.REPLICA_SET, kinds.STATEFUL_SET, kinds.QUOTA),
)


class Quotas:
    """The part that counts what namespaces use."""

    name = "quotas"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = _COUNTED

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The quotas of the namespace in which something changed."""
        entry = new or old
        assert entry is not None
        found = view.all(kinds.QUOTA, entry.namespace)
        return [f"{quota.namespace}/{quota.name}" for quota in found]

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Write what is used, where that is not what the status says."""
        namespace, _, name = key.partition("/")
        entry = view.find(kinds.QUOTA, namespace, name)
        if entry is None or entry.facts.is_leaving:
            return Step()
        quota = entry.decode()
        hard = (quota.get("spec") or {}).get("hard") or {}
        uses = (
            use_of(kind.group_resource, obj.decode())
            for kind in _COUNTED
            for obj in view.all(kind, namespace)
        )
        status = {"hard": dict(hard), "used": show_amounts(add_up(uses, hard))}
        if status == quota.get("status"):
            return Step()
        gone = {
            field: {key: None for key in (quota.get("status") or {}).get(field) or {}}
            for field in status
        }
        patch = {"status": {field: {**gone[field], **status[field]} for field in status}}
        return Step((Merge(kinds.QUOTA, namespace, name, patch, "status", entry.uid),))

    def refused(self, key: str, action: Action, error: ClusterError) -> None:
        """Nothing to undo: the next look counts again."""
