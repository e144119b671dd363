"""
Where an object that exists falls short of the one that we want.

Only what we would write is compared: defaults of the server, and labels and
annotations of others, are nobody's fault. Under our own prefix a key too many
counts as well, since a rule that was taken away must end. A field that the
server did not keep last time is named by the caller and no longer compared; a
field behind a gate may be missing from the start.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.leaderworkerset.labels import GANG, NETWORK_TOPOLOGY, PREFIX
from kohort.cluster.objects import Object

# Of our own, these reach templates; others are notes that we do not write there.
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
