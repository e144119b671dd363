"""
The fields of a write that the API server did not store, found in its answer.

A field behind a feature gate, or one that an older definition prunes, comes back missing;
a value that the API server normalises comes back different. If the operator sent either
again it would write without end. Paths read like ``spec.template.spec.containers[0].image``.
"""

from collections.abc import Iterator
from typing import Any

from kohort.cluster.objects import Object


def find_dropped(asked: Object, stored: Object) -> frozenset[str]:
    """The paths of all fields that the API server did not store as they were sent."""
    return frozenset(_compare("", asked, stored))


def _compare(path: str, asked: Any, stored: Any) -> Iterator[str]:
    if isinstance(asked, dict) and isinstance(stored, dict | None):
        prefix = f"{path}." if path else ""
        for key, value in asked.items():
            yield from _compare(prefix + key, value, (stored or {}).get(key))
    elif isinstance(asked, list) and isinstance(stored, list) and len(asked) == len(stored):
        for index, (ours, theirs) in enumerate(zip(asked, stored, strict=True)):
            yield from _compare(f"{path}[{index}]", ours, theirs)
    elif asked != stored:
        yield path
