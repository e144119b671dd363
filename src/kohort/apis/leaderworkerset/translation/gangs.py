"""
The pod groups of a LeaderWorkerSet, as they exist, and those that have to be made.

Each live leader that was admitted into a gang has one, which belongs to it and goes
with it. It is made when it is missing and never changed. One of the same name that
belongs to a leader of before is waited for: the garbage collector takes it, and that
is when we are asked again (lws#1054). Leaders of a time without gangs get none, since
a scheduler would keep room for pods that never come.
"""

from collections.abc import Iterator

from kohort.apis.api import Family
from kohort.apis.facts import Head, PodFacts, Whole
from kohort.apis.leaderworkerset import labels, spec
from kohort.apis.leaderworkerset.rendering.gangs import POD_GROUP, is_in_gang, pod_group
from kohort.apis.leaderworkerset.revision import apply_revision
from kohort.cluster.actions import Action, Create
from kohort.cluster.objects import Object, namespace_of


class Gangs:
    """The pod groups of one workload in one plan."""

    def __init__(self, family: Family, revisions: tuple[Whole, ...]) -> None:
        self._lws = family.root
        self._revisions = revisions
        self._are_made = bool(family.settings.gang) and POD_GROUP not in family.absent
        found: tuple[Head, ...] = family.all(POD_GROUP) if self._are_made else ()
        self._held = {group.metadata.name: group for group in found}
        self._specs: dict[str, Object] = {}  # by the key of their revision

    def ensure(self, leader: PodFacts) -> Iterator[Action]:
        """The pod group of this leader, if it is missing and can be made."""
        metadata = leader.metadata
        if not self._are_made or not _has_gang(leader) or self._is_settled(leader):
            return
        then = self._find_spec(metadata.labels.get(labels.REVISION, ""))
        if then is not None:
            body = pod_group(then, as_leader(then, leader))
            why = f"group {metadata.name} has no pod group"
            yield Create(POD_GROUP, namespace_of(self._lws), body, why)

    def _is_settled(self, leader: PodFacts) -> bool:
        """Whether nothing is to be made: it is there, or one of before has to go first."""
        found = self._held.get(leader.metadata.annotations[labels.POD_GROUP])
        if found is None:
            return False
        owners = [owner for owner in found.metadata.owner_references if owner.controller]
        # Nobody will take away what belongs to somebody else: the server's refusal says so.
        return found.metadata.is_leaving or any(owner.kind == "Pod" for owner in owners)

    def _find_spec(self, key: str) -> Object | None:
        if key not in self._specs:
            found = [r for r in self._revisions if r.metadata.labels.get(labels.REVISION) == key]
            if not found:
                return None
            self._specs[key] = apply_revision(self._lws, found[-1].decode())
        return self._specs[key]


def _has_gang(leader: PodFacts) -> bool:
    metadata = leader.metadata
    is_worker = labels.LEADER_NAME in metadata.annotations
    return not is_worker and is_in_gang(metadata.labels, metadata.annotations)


def as_leader(lws: Object, leader: PodFacts) -> Object:
    """The leader as far as rendering asks for it; its containers are those of its template."""
    template = spec.template_of(lws)
    chosen = template.get("leaderTemplate") or template.get("workerTemplate") or {}
    metadata = leader.metadata
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "labels": metadata.labels,
            "annotations": metadata.annotations,
        },
        "spec": chosen.get("spec") or {},
    }
