"""
Events of a workload and of all that descends from it, merged by time.

An event belongs to an object by its uid: another object may have had the name before. Each line
names its reporter, since the scheduler, the kubelet and the operator all report.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from kohort.cluster.objects import Object
from kohort.views.ages import find_time
from kohort.views.evidence.cluster import find_subject, find_text, first_seen, last_seen


@dataclass(frozen=True, slots=True)
class ReportedEvent:
    """One event about one object."""

    seen: datetime | None
    since: datetime | None
    type: str
    object: str  # KIND/NAME
    reason: str
    actor: str
    message: str
    count: int = 1


def list_reported(events: Iterable[Object], uids: Collection[str]) -> list[ReportedEvent]:
    """The events about these objects, the oldest first."""
    about = [event for event in events if find_subject(event).get("uid") in uids]
    return [read_event(event) for event in sort_by_time(about)]


def sort_by_time(events: Iterable[Object]) -> list[Object]:
    """Events as they came, the oldest first."""
    return sorted(events, key=_order)


def _order(event: Object) -> tuple[float, str]:
    """Stamps have different precision, so they are compared as moments."""
    seen = find_time(last_seen(event))
    return (seen.timestamp() if seen else 0.0), first_seen(event)


def read_event(event: Object) -> ReportedEvent:
    """What one event says, in either form of events."""
    subject = find_subject(event)
    source = event.get("source") or event.get("deprecatedSource") or {}
    controller = event.get("reportingComponent") or event.get("reportingController")
    series = event.get("series") or {}
    return ReportedEvent(
        seen=find_time(last_seen(event)),
        since=find_time(first_seen(event)),
        type=str(event.get("type") or ""),
        object=f"{subject.get('kind', '')}/{subject.get('name', '')}",
        reason=str(event.get("reason") or ""),
        actor=str(controller or source.get("component") or ""),
        message=find_text(event),
        count=int(series.get("count") or event.get("count") or 1),
    )
