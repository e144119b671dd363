"""
Events: one kind that is served in two groups and stored in one.

The older form in the core group is what is stored; the newer one is a renaming
of it. Fields that the newer form calls deprecated are the older ones.
"""

from kohort.cluster.objects import Object

_API_VERSION = "events.k8s.io/v1"

# (newer, older), in the order in which the older form is written.
_RENAMED = (
    ("metadata", "metadata"),
    ("regarding", "involvedObject"),
    ("reason", "reason"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("series", "series"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingComponent"),
    ("reportingInstance", "reportingInstance"),
)
# The newer form leaves these out when they are empty; the older one writes them always.
_ALWAYS_OLD = frozenset({"reportingComponent", "reportingInstance"})


def to_storage(event: Object) -> Object:
    """An event of the newer group as it is stored."""
    stored = {"apiVersion": "v1", "kind": "Event"}
    stored.update({old: event[new] for new, old in _RENAMED if new in event})
    default_event(stored)
    return stored


def from_storage(event: Object) -> Object:
    """A stored event as the newer group shows it."""
    shown = {"apiVersion": _API_VERSION, "kind": "Event"}
    for new, old in _RENAMED:
        if old in event and (event[old] != "" or old not in _ALWAYS_OLD):
            shown[new] = event[old]
    default_new_event(shown)
    return shown


def default_event(event: Object) -> None:
    """Write out the fields that an event of the core group always shows."""
    event.setdefault("involvedObject", {})
    event.setdefault("source", {})
    for field in ("firstTimestamp", "lastTimestamp", "eventTime"):
        event.setdefault(field, None)
    for field in ("reportingComponent", "reportingInstance"):
        event.setdefault(field, "")


def default_new_event(event: Object) -> None:
    """Write out the fields that an event of the newer group always shows."""
    event.setdefault("regarding", {})
    event.setdefault("deprecatedSource", {})
    for field in ("eventTime", "deprecatedFirstTimestamp", "deprecatedLastTimestamp"):
        event.setdefault(field, None)
