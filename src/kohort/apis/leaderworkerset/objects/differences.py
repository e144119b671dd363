"""
The fields in which an existing object differs from the desired one.

Only fields that we would write are compared: defaults of the API server, and labels and
annotations of other clients, are fine. Under our own prefix a surplus key counts as well,
since a rule that the user has removed must end. The caller names fields that the API server
dropped last time, which are not compared; a field behind a feature gate may be missing.
"""

from kohort.apis.leaderworkerset.labels import GANG, NETWORK_TOPOLOGY, PREFIX
from kohort.cluster.differences import list_differences
from kohort.cluster.objects import Object

# Only these of our own annotations reach templates.
_ENDING = (GANG, NETWORK_TOPOLOGY)
_GATED = frozenset({"spec.updateStrategy.rollingUpdate.maxUnavailable"})


def list_stale_fields(
    wanted: Object, found: Object, dropped: frozenset[str] = frozenset()
) -> list[str]:
    """The paths of all fields that differ, such as ``spec.template.metadata.labels.app``."""
    differences = list_differences(wanted, found, is_ours=_is_ours)
    paths = (path for path, _, held in differences if not (held is None and path in _GATED))
    return [path for path in paths if path not in dropped]


def _is_ours(key: str) -> bool:
    return key.startswith(PREFIX) or key in _ENDING
