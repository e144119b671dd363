"""Revisions of a ModelServing that another client deleted while pods were made from them."""

from collections.abc import Iterable

from kohort.apis.api import Snapshot
from kohort.apis.drift.lost_revisions import find_deleted
from kohort.apis.facts import Whole
from kohort.apis.modelserving.adoption import TargetRevision, read_mark
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.revision import find_template
from kohort.cluster.kinds import CONTROLLER_REVISION


def find_lost(
    snapshot: Snapshot, pods: Iterable[ServingPod], target: TargetRevision, *, by_role: bool
) -> tuple[Whole, ...]:
    """The deleted revisions of old pods; in a rollout by role, of pods whose role is old."""
    if not snapshot.deleted.get(CONTROLLER_REVISION):
        return ()
    staying = [pod for pod in pods if not pod.metadata.is_leaving]
    marks = [read_mark(pod.metadata.labels) for pod in staying]
    missing = {
        mark.revision
        for mark in marks
        if not target.has_revision(mark.revision) and not (by_role and target.has_role(mark))
    }
    return find_deleted(snapshot, missing - target.stored, _find_key)


def _find_key(stored: Whole) -> str:
    template = find_template(stored.decode())
    return template.revision if template else ""
