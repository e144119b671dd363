"""
The revisions that the StatefulSet controller keeps of the leader set's template.

It stores one for each template before it makes a pod from it, names it in a label of the pod,
and gives the template in force the highest number. So they tell what a leader was made from,
whatever became of its labels, and whether our view of the leader set is older than its pods.
"""

from collections.abc import Collection, Iterable

from kohort.apis.api import Snapshot
from kohort.apis.carriers.abandoned import mark_abandoned
from kohort.apis.facts import Meta, PodFacts, SetFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.model.observed import Group

SET_REVISION = "controller-revision-hash"


def list_templates(pods: Iterable[PodFacts]) -> set[str]:
    """The templates that leaders were made from, by the names of their revisions."""
    leaders = (p.metadata.labels for p in pods if p.metadata.labels.get(labels.WORKER_INDEX) == "0")
    return {held.get(SET_REVISION, "") for held in leaders} - {""}


def number_templates(snapshot: Snapshot, uid: str) -> dict[str, int]:
    """The numbers of the revisions of a leader set, by name."""
    found = _list_revisions(snapshot, uid)
    return {stored.metadata.name: int(stored.decode().get("revision", 0)) for stored in found}


def find_template_revision(snapshot: Snapshot, leader: Meta) -> str:
    """The revision of ours that a leader's template has as its label, or nothing."""
    return _find_revision(snapshot, leader.controller, leader.labels.get(SET_REVISION, ""))


def mark_given_up(
    groups: tuple[Group, ...],
    pods: Iterable[PodFacts],
    leader_set: SetFacts,
    snapshot: Snapshot,
    stored: Collection[str],
) -> tuple[Group, ...]:
    """The groups, marked where they have a template that was given up and would get another."""
    status, owner = leader_set.status, leader_set.metadata.uid
    if status.current_revision == status.update_revision:
        return groups
    own = [pod.metadata for pod in pods if pod.metadata.controller == owner]
    templates = {metadata.uid: metadata.labels.get(SET_REVISION, "") for metadata in own}
    found = mark_abandoned(groups, templates, (status.current_revision, status.update_revision))
    if found == groups or _find_revision(snapshot, owner, status.current_revision) in stored:
        return found
    return groups


def _find_revision(snapshot: Snapshot, uid: str, name: str) -> str:
    for stored in _list_revisions(snapshot, uid):
        if stored.metadata.name == name:
            try:
                template = stored.decode()["data"]["spec"]["template"]
                return str(template["metadata"]["labels"][labels.REVISION])
            except (KeyError, TypeError):
                return ""
    return ""


def _list_revisions(snapshot: Snapshot, uid: str) -> list[Whole]:
    found: tuple[Whole, ...] = snapshot.all(CONTROLLER_REVISION)
    return [stored for stored in found if uid and stored.metadata.controller == uid]
