"""Revisions of a LeaderWorkerSet that another client deleted while leaders still name them."""

from collections.abc import Iterable, Iterator

from kohort.apis.api import Snapshot
from kohort.apis.drift import lost_revisions
from kohort.apis.facts import PodFacts, Whole
from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.revision import is_readable
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION, POD


def find_lost(snapshot: Snapshot, keys: Iterable[str]) -> tuple[Whole, ...]:
    """The deleted revisions that leaders still name; those with these keys are not needed."""
    if not snapshot.deleted.get(CONTROLLER_REVISION):
        return ()
    missing = _list_named(snapshot.all(POD)).difference(keys)
    return lost_revisions.find_deleted(snapshot, missing, _find_key)


def _list_named(pods: Iterable[PodFacts]) -> set[str]:
    marks = (pod.metadata.labels for pod in pods if not pod.metadata.is_leaving)
    return {m.get(labels.REVISION, "") for m in marks if m.get(labels.WORKER_INDEX) == "0"} - {""}


def _find_key(stored: Whole) -> str:
    return stored.metadata.labels.get(labels.REVISION, "") if is_readable(stored) else ""


def make_again(lost: Iterable[Whole]) -> Iterator[Create]:
    """Create lost revisions as they were."""
    return lost_revisions.make_again((_find_key(stored), stored) for stored in lost)
