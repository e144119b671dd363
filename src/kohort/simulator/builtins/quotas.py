"""
The quota controller: it writes the used amounts of each ResourceQuota.

The API itself refuses what is too much, from the store; the status is for people.
"""

from collections.abc import Iterable

from kohort.apiserver.resources.limits import add_up, show_amounts, use_of
from kohort.apiserver.store.entries import StoredObject
from kohort.cluster import kinds
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Kind
from kohort.simulator.component import ComponentAction, MergeRequest, Moment, Step, View

_COUNTED = (
    *(kinds.POD, kinds.SERVICE, kinds.SECRET, kinds.CONFIG_MAP, kinds.CLAIM),
    *(kinds.REPLICATION_CONTROLLER, kinds.JOB, kinds.CRON_JOB, kinds.DEPLOYMENT),
    *(kinds.REPLICA_SET, kinds.STATEFUL_SET, kinds.QUOTA),
)


class Quotas:
    """The quota controller as a component."""

    name = "quotas"
    manager = "kube-controller-manager"
    kinds: tuple[Kind, ...] = _COUNTED

    def observe(
        self, kind: Kind, old: StoredObject | None, new: StoredObject | None, view: View
    ) -> Iterable[str]:
        """The keys of the quotas in the namespace of a change."""
        entry = new or old
        assert entry is not None
        found = view.all(kinds.QUOTA, entry.namespace)
        return [f"{quota.namespace}/{quota.name}" for quota in found]

    def step(self, key: str, view: View, moment: Moment) -> Step:
        """Count the used amounts, and write the status if they changed."""
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
        return Step((MergeRequest(kinds.QUOTA, namespace, name, patch, "status", entry.uid),))

    def refused(self, key: str, action: ComponentAction, error: ClusterError) -> None:
        """Do nothing: the next step starts from the stored objects."""
