"""
What the verbs of every API share: the annotations of pause and restart, and a copy with one change.

A restart is an annotation in every pod template, as kubectl does it for Deployments. An API
without a field for a pause raises its partition, and remembers in an annotation what it was.
"""

from typing import Any

from kohort.cluster.objects import Object

HELD = "kohort.dev/paused-partition"
RESTARTED = "kubectl.kubernetes.io/restartedAt"


def put_at(obj: Object, value: Any, *path: str) -> Object:
    """A copy of the object with a value at a path; what is beside the path is shared."""
    head, *rest = path
    if not rest:
        return {**obj, head: value}
    return {**obj, head: put_at(obj.get(head) or {}, value, *rest)}
