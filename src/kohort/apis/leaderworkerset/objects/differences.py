"""
The fields in which an existing object differs from the desired one.

Only fields that we would write are compared: defaults of the API server, and labels and
annotations of other clients, are fine. Under our own prefix a surplus key counts as well,
since a rule that the user has removed must end. The caller names fields that the API server
dropped last time, which are not compared; a field behind a feature gate may be missing.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.leaderworkerset.labels import GANG, NETWORK_TOPOLOGY, PREFIX
from kohort.cluster.objects import Object

# Only these of our own annotations reach templates.
_ENDING = (GANG, NETWORK_TOPOLOGY)
_GATED = frozenset({"spec.updateStrategy.rollingUpdate.maxUnavailable"})


def find_differences(
    wanted: Object, found: Object, dropped: frozenset[str] = frozenset()
) -> list[str]:
    """The paths of all fields that differ, such as ``spec.template.metadata.labels.app``."""
    return [path for path in _compare("", wanted, found) if path not in dropped]


def _compare(path: str, wanted: Any, found: Any) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(found, dict | None):
        yield from _compare_members(path, wanted, found or {})
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (ours, theirs) in enumerate(zip(wanted, found, strict=True)):
            yield from _compare(f"{path}[{index}]", ours, theirs)
    elif wanted != found and not (found is None and path in _GATED):
        yield path


def _compare_members(path: str, wanted: Object, found: Object) -> Iterator[str]:
    prefix = f"{path}." if path else ""
    for key, value in wanted.items():
        yield from _compare(prefix + key, value, found.get(key))
    for key in found:
        if key not in wanted and (key.startswith(PREFIX) or key in _ENDING):
            yield prefix + key
