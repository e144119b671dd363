"""Revisions of a LeaderWorkerSet that another client deleted while leaders still name them."""

from collections.abc import Iterable, Iterator

from kohort.apis.api import Snapshot
from kohort.apis.drift import lost_revisions
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.revision import is_readable
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION, POD
from kohort.cluster.objects import uid_of


def find_lost(snapshot: Snapshot, keys: Iterable[str]) -> tuple[Whole, ...]:
    """The deleted revisions that leaders still name; those with these keys are not needed."""
    deleted: tuple[Whole, ...] = snapshot.deleted.get(CONTROLLER_REVISION, ())
    if not deleted:
        return ()
    uid, missing = uid_of(snapshot.root), _list_named(snapshot.all(POD)).difference(keys)
    own = [s for s in deleted if s.metadata.controller == uid and is_readable(s)]
    last = {stored.metadata.labels.get(labels.REVISION, ""): stored for stored in own}
    return tuple(stored for key, stored in last.items() if key in missing)


def _list_named(pods: Iterable[PodFacts]) -> set[str]:
    marks = (pod.metadata.labels for pod in pods if not pod.metadata.is_leaving)
    return {m.get(labels.REVISION, "") for m in marks if m.get(labels.WORKER_INDEX) == "0"} - {""}


def make_again(lost: Iterable[Whole]) -> Iterator[Create]:
    """Create lost revisions as they were."""
    return lost_revisions.make_again((s.metadata.labels[labels.REVISION], s) for s in lost)
