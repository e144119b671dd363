"""
Revisions of a workload that another client deleted while groups still have them.

A revision is the only place where the template of an old group is stored. Without it the operator
can make no part of such a group again, and a partition may keep the group for ever. So the operator
makes the revision again from the last copy that its cache had. An operator that did not run when
the revision was deleted has no copy. The revision in force needs none: it follows from the spec.
"""

from collections.abc import Iterable, Iterator

from kohort.apis.facts import Whole
from kohort.cluster.actions import Create
from kohort.cluster.kinds import CONTROLLER_REVISION

_KEPT = ("name", "namespace", "labels", "annotations", "ownerReferences")


def make_again(lost: Iterable[tuple[str, Whole]]) -> Iterator[Create]:
    """Create lost revisions, each with its key, as they were."""
    for key, stored in lost:
        body = stored.decode()
        kept = {key: body["metadata"][key] for key in _KEPT if key in body["metadata"]}
        obj = {key: value for key, value in body.items() if key != "metadata"}
        why = f"groups have revision {key}, and it was deleted"
        yield Create(CONTROLLER_REVISION, kept["namespace"], {**obj, "metadata": kept}, why)
