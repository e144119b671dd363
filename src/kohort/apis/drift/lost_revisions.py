"""
Revisions of a workload that another client deleted while groups still have them.

A revision is the only place where the template of an old group is stored. Without it the operator
can make no part of such a group again, and a partition may keep the group for ever. So the operator
makes the revision again from the last copy that its cache had. An operator that did not run when
the revision was deleted has no copy. The revision in force needs none: it follows from the spec.
"""

from collections.abc import Callable, Collection, Iterable, Iterator

from kohort.apis.api import Snapshot
from kohort.apis.facts import Whole
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import uid_of

_KEPT = ("name", "namespace", "labels", "annotations", "ownerReferences")


def find_deleted(
    snapshot: Snapshot, missing: Collection[str], key_of: Callable[[Whole], str]
) -> tuple[Whole, ...]:
    """The last copies of deleted revisions with these keys; the key of another object is empty."""
    deleted: tuple[Whole, ...] = snapshot.deleted.get(CONTROLLER_REVISION, ())
    uid = uid_of(snapshot.root)
    last = {key_of(stored): stored for stored in deleted if stored.metadata.controller == uid}
    return tuple(stored for key, stored in last.items() if key and key in missing)


def make_again(lost: Iterable[tuple[str, Whole]]) -> Iterator[Create]:
    """Create lost revisions, each with its key, as they were."""
    for key, stored in lost:
        body = stored.decode()
        kept = {key: body["metadata"][key] for key in _KEPT if key in body["metadata"]}
        obj = {key: value for key, value in body.items() if key != "metadata"}
        why = f"groups have revision {key}, and it was deleted"
        yield Create(CONTROLLER_REVISION, kept["namespace"], {**obj, "metadata": kept}, why)
