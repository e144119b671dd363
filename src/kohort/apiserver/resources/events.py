"""Events, as one kind that is served in two groups and stored in one.

The older form in the core group is what is stored; the newer one is a renaming
of it. Fields that the newer form calls deprecated are the older ones. Only the newer group
requires a reporter, an action and a reason; events of the core group may lack them, since
clients have always sent them so.
"""

from collections.abc import Mapping
from datetime import datetime
from sys import intern
from typing import Any

from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.printers import (
    Column,
    Printed,
    make_printer,
    show_age,
    shown,
    timed,
    wide,
)
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.field_errors import invalid, required
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified
from kohort.cluster.objects import Object, name_of, namespace_of

# The fields of the involved object that selectors may name.
REFERENCE_FIELDS = (
    "apiVersion",
    "fieldPath",
    "kind",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
)
_REFERENCE = {
    prefix: tuple((f"{prefix}.{name}", name) for name in REFERENCE_FIELDS)
    for prefix in ("involvedObject", "regarding")
}
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
_FIELDS = (
    *(f"involvedObject.{name}" for name in REFERENCE_FIELDS),
    *("reason", "reportingComponent", "source", "type"),
)
_NEW_FIELDS = (
    *(f"regarding.{name}" for name in REFERENCE_FIELDS),
    *("reason", "reportingController", "type"),
)


def validate_event(event: Object, old: Object | None) -> list[FieldError]:
    """The errors in an event of the core group."""
    if old is not None:
        return validate_metadata_update(event, old)
    faults = _validate_place(event, event.get("involvedObject") or {})
    return faults + validate_metadata(event, kinds.EVENT)


def validate_new_event(event: Object, old: Object | None) -> list[FieldError]:
    """The errors in an event of the newer group, which requires more fields."""
    if old is not None:
        return validate_metadata_update(event, old)
    faults = _validate_place(event, event.get("regarding") or {})
    if not event.get("eventTime"):
        faults.append(required("eventTime"))
    else:
        faults += _validate_reporter(event)
    kind = event.get("type") or ""
    if kind not in ("Normal", "Warning"):
        faults.append(invalid("type", "", f"has invalid value: {kind}"))
    return faults + validate_metadata(event, kinds.EVENT)


def _validate_reporter(event: Object) -> list[FieldError]:
    reporter = event.get("reportingController") or ""
    if not reporter:
        faults = [required("reportingController")]
    else:
        complaints = check_qualified(reporter)
        faults = [invalid("reportingController", reporter, why) for why in complaints]
    fields = ("reportingInstance", "action", "reason")
    return faults + [required(field) for field in fields if not event.get(field)]


def _validate_place(event: Object, about: Object) -> list[FieldError]:
    """Refuse an event in another namespace than its object; cluster-scoped objects have default."""
    namespace, place = about.get("namespace") or "", namespace_of(event)
    if namespace == place or (not namespace and place in ("default", "kube-system")):
        return []
    why = "does not match event.namespace"
    return [invalid("involvedObject.namespace", namespace, why)]


def _either(event: Object, *names: str) -> Any:
    """The first of some fields that has a value."""
    return next((event[name] for name in names if event.get(name)), None)


def _regarding(event: Object) -> Object:
    return _either(event, "involvedObject", "regarding") or {}


def _read_first_seen(event: Object, now: datetime) -> str:
    return show_age(_either(event, "firstTimestamp", "deprecatedFirstTimestamp", "eventTime"), now)


def _read_last_seen(event: Object, now: datetime) -> str:
    seen = (event.get("series") or {}).get("lastObservedTime")
    last = _either(event, "lastTimestamp", "deprecatedLastTimestamp")
    return show_age(seen or last, now) if seen or last else _read_first_seen(event, now)


def _read_object(event: Object) -> str:
    regarding = _regarding(event)
    kind = str(regarding.get("kind", "")).lower()
    return f"{kind}/{regarding['name']}" if regarding.get("name") else kind


def _read_source(event: Object) -> str:
    source = _either(event, "source", "deprecatedSource") or {}
    component, host = source.get("component"), source.get("host")
    if not component:
        component = _either(event, "reportingComponent", "reportingController")
    if not host:
        host = event.get("reportingInstance")
    return ", ".join(part for part in (component, host) if part)


def _read_count(event: Object) -> int:
    series = (event.get("series") or {}).get("count")
    return int(series or _either(event, "count", "deprecatedCount") or 1)


EVENTS = make_printer(
    timed("Last Seen", _read_last_seen, "How long ago it happened last."),
    shown("Type", lambda event: event.get("type", "")),
    shown("Reason", lambda event: event.get("reason", "")),
    shown("Object", _read_object, "What the event is about."),
    wide("Subobject", lambda event: _regarding(event).get("fieldPath", "")),
    wide("Source", _read_source, "Who reported it."),
    shown("Message", lambda event: (_either(event, "message", "note") or "").strip()),
    timed("First Seen", _read_first_seen, "How long ago it happened first.", priority=1),
    wide("Count", _read_count),
    Printed(Column("Name", "string", "name", "", 1), lambda event, now: name_of(event)),
)


def event_fields(event: Object) -> Mapping[str, str]:
    """The selectable fields of an event by the names of both groups, whichever it came through."""
    about = event.get("involvedObject") or event.get("regarding") or {}
    reporter = intern(event.get("reportingComponent") or event.get("reportingController") or "")
    return {
        **_reference_fields("involvedObject", about),
        **_reference_fields("regarding", about),
        "reason": intern(event.get("reason") or ""),
        "reportingComponent": reporter,
        "reportingController": reporter,
        "source": intern((event.get("source") or {}).get("component") or reporter),
        "type": intern(event.get("type") or ""),
    }


def _reference_fields(prefix: str, reference: Object) -> dict[str, str]:
    # The events of pods repeat the same texts, so equal texts are stored once.
    return {field: intern(reference.get(name) or "") for field, name in _REFERENCE[prefix]}


def to_storage(event: Object) -> Object:
    """An event of the newer group in its stored form."""
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


KINDS = (
    BuiltinKind(
        kinds.EVENT,
        ("ev",),
        (),
        Behaviour(validate=validate_event, default=default_event, fields=event_fields),
        EVENTS,
        fields=_FIELDS,
        may_appear=True,
    ),
    BuiltinKind(
        kinds.NEW_EVENT,
        ("ev",),
        (),
        Behaviour(validate=validate_new_event, default=default_new_event, fields=event_fields),
        EVENTS,
        fields=_NEW_FIELDS,
        may_appear=True,
        storage=kinds.EVENT.group_resource,
        to_storage=to_storage,
        from_storage=from_storage,
    ),
)
