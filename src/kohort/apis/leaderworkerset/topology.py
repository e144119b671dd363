"""
The network topology that a LeaderWorkerSet asks for: a field, or an annotation of the same content.

Users set the annotation where the CRD on the cluster is another project's and the API
server drops the field. Where both are set, the field counts. An unreadable topology counts
as none here; admission refuses it, and the status reports it.
"""

from typing import Any

from kohort.apis.leaderworkerset import labels
from kohort.apis.leaderworkerset.spec import spec_of
from kohort.apis.topology import find_faults, find_noted
from kohort.cluster.objects import Object, annotations_of

FIELD = "networkTopology"


def find_topology(lws: Object) -> Any:
    """The topology as the user wrote it; None if there is none, or it is no JSON."""
    field = spec_of(lws).get(FIELD)
    if field is not None:
        return field
    return find_noted(annotations_of(lws).get(labels.NETWORK_TOPOLOGY, ""))


def describe_faults(lws: Object) -> tuple[str, ...]:
    """A sentence on each error of a stored topology; the webhook may have been down."""
    text = annotations_of(lws).get(labels.NETWORK_TOPOLOGY, "")
    if spec_of(lws).get(FIELD) is None and text and find_noted(text) is None:
        return (f"annotation {labels.NETWORK_TOPOLOGY} is no JSON, so it has no effect",)
    topology = find_topology(lws)
    faults = find_faults(topology) if topology is not None else []
    whole = f"{FIELD} has no effect"
    return tuple(f"{whole}: {name or FIELD} {why}, not {value!r}" for name, value, why in faults)
