"""Revisions of a ModelServing that another client deleted while pods were made from them."""

from collections.abc import Iterable

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.apis.modelserving.adoption import TargetRevision, read_mark
from kohort.apis.modelserving.pod_facts import ServingPod
from kohort.apis.modelserving.revision import find_template
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import uid_of


def find_lost(
    snapshot: Snapshot, pods: Iterable[ServingPod], target: TargetRevision, *, by_role: bool
) -> tuple[Whole, ...]:
    """The deleted revisions of old pods; in a rollout by role, of pods whose role is old."""
    deleted: tuple[Whole, ...] = snapshot.deleted.get(CONTROLLER_REVISION, ())
    if not deleted:
        return ()
    staying = [pod for pod in pods if not pod.metadata.is_leaving]
    marks = [read_mark(pod.metadata.labels) for pod in staying]
    missing = {
        mark.revision
        for mark in marks
        if not target.has_revision(mark.revision) and not (by_role and target.has_role(mark))
    }
    uid = uid_of(snapshot.root)
    last = {_find_key(s): s for s in deleted if s.metadata.controller == uid}
    return tuple(s for key, s in last.items() if key and key in missing - target.stored)


def _find_key(stored: Whole) -> str:
    template = find_template(stored.decode())
    return template.revision if template else ""
