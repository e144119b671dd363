"""
Revisions of a group's sets that another client deleted while instances or pods have them.

An instance that waits for its in-place update is compared with the template that it has, and one
that a partition keeps comes back from it. The uses are those for which the history keeps a revision
beyond its limit, so that what is made again here is not deleted there.
"""

from collections.abc import Iterator

from kohort.apis.api import Snapshot
from kohort.apis.drift import lost_revisions
from kohort.apis.facts import Meta, Whole
from kohort.apis.rolebasedgroup import labels, names
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION, POD


def find_lost(snapshot: Snapshot) -> tuple[Whole, ...]:
    """The deleted revisions of existing sets that instances or pods of the role still have."""
    deleted: tuple[Whole, ...] = snapshot.deleted.get(CONTROLLER_REVISION, ())
    if not deleted:
        return ()
    sets = (found.metadata for found in snapshot.all(labels.INSTANCE_SET))
    uids = {metadata.uid for metadata in sets if not metadata.is_leaving}
    last = {
        stored.metadata.name: stored for stored in deleted if stored.metadata.controller in uids
    }
    for stored in snapshot.all(CONTROLLER_REVISION):
        last.pop(stored.metadata.name, None)
    staying = (bearer for bearer in list_bearers(snapshot) if last and not bearer.is_leaving)
    used = {_find_key(bearer, bearer.labels[labels.REVISION]) for bearer in staying}
    return tuple(s for name, s in last.items() if _find_key(s.metadata, name) in used)


def make_again(snapshot: Snapshot) -> Iterator[Create]:
    """Create lost revisions as they were."""
    return lost_revisions.make_again((s.metadata.name, s) for s in find_lost(snapshot))


def list_bearers(snapshot: Snapshot) -> Iterator[Meta]:
    """The instances and the pods that bear the hash of a revision of a set."""
    for kind in (labels.INSTANCE, POD):
        for found in snapshot.all(kind):
            if labels.REVISION in found.metadata.labels:
                yield found.metadata


def _find_key(metadata: Meta, revision: str) -> tuple[str, str]:
    return metadata.labels.get(labels.ROLE_NAME, ""), names.short_revision(revision)
