"""
Where events become rows, in both of their forms.

The older form counts in the event itself, the newer one in a series; an event
of either group may carry either, since both are one stored object.
"""

from datetime import datetime
from typing import Any

from kohort.cluster.objects import Object, name_of
from kohort.simulator.resources.printers.ages import show_age
from kohort.simulator.resources.printers.tables import (
    Column,
    Printed,
    make_printer,
    shown,
    timed,
    wide,
)


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
