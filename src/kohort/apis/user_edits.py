"""
Functions that the verbs of every API share: pause, restart, stored revisions, one changed field.

A restart is an annotation in every pod template, as kubectl does it for Deployments: the template
differs, so a new revision rolls within the budget. For an API without a field for a pause, we
raise the partition, and store its old value in an annotation.
"""

from collections.abc import Callable
from typing import Any

import orjson

from kohort.apis.api import Snapshot, StoredRevision, UserVerbs
from kohort.cluster.kinds import CONTROLLER_REVISION
from kohort.cluster.objects import Object, annotations_of, uid_of

HELD = "kohort.dev/paused-partition"
RESTARTED = "kubectl.kubernetes.io/restartedAt"


def put_at(obj: Object, value: Any, *path: str) -> Object:
    """A copy of the object with a value at a path; other parts are shared with the original."""
    head, *rest = path
    if not rest:
        return {**obj, head: value}
    return {**obj, head: put_at(obj.get(head) or {}, value, *rest)}


def restart_templates(verbs: UserVerbs, root: Object, now: str, role: str = "") -> Object:
    """The object with a restart annotation in the templates of one role, or of all."""
    changed = root
    for field, template in verbs.list_templates(root, role).items():
        stamped = put_at(template, now, "metadata", "annotations", RESTARTED)
        changed = verbs.put_template(changed, field, stamped)
    return changed


def list_own_revisions(
    snapshot: Snapshot, served: str, read: Callable[[Object], tuple[int, str, Object] | None]
) -> tuple[StoredRevision, ...]:
    """
    The ControllerRevisions that a workload owns, lowest number first.

    ``read`` gives number, key and content of one, or None if it holds no template; ``served`` is
    the annotation that marks those on which all groups were ready once.
    """
    uid, found = uid_of(snapshot.root), []
    for stored in snapshot.all(CONTROLLER_REVISION):
        held = read(stored.decode()) if stored.metadata.controller == uid else None
        if held is not None:
            number, key, content = held
            found.append(
                StoredRevision(
                    number=number,
                    key=key,
                    name=stored.metadata.name,
                    created=stored.metadata.creation_timestamp or "",
                    content=content,
                    has_served=served in stored.metadata.annotations,
                )
            )
    return tuple(sorted(found, key=lambda revision: revision.number))


def remember_held(root: Object, value: Any) -> Object:
    """The object with an annotation that stores the value which a pause replaced."""
    return put_at(root, orjson.dumps(value).decode(), "metadata", "annotations", HELD)


def recall_held(root: Object) -> Any:
    """The value that a pause replaced; None if there is none, or it cannot be read."""
    try:
        return orjson.loads(annotations_of(root).get(HELD, "null"))
    except orjson.JSONDecodeError:
        return None


def forget_held(root: Object) -> Object:
    """The object without the annotation of a pause."""
    others = {key: value for key, value in annotations_of(root).items() if key != HELD}
    return put_at(root, others, "metadata", "annotations")
