"""
The fields of a write that the API server did not store, found in its answer.

A field behind a feature gate, or one that an older definition prunes, comes back missing;
a value that the API server normalises comes back different. If the operator sent either
again it would write without end. Paths read like ``spec.template.spec.containers[0].image``.
"""

from kohort.cluster.differences import list_differences
from kohort.cluster.objects import Object


def find_dropped(asked: Object, stored: Object) -> frozenset[str]:
    """The paths of all fields that the API server did not store as they were sent."""
    return frozenset(path for path, _, _ in list_differences(asked, stored))
