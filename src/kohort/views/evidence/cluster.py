"""
Facts of the cluster beside a workload's own objects: nodes, Warning events, the operator's lease.

All of it is optional. A person may be allowed to see one namespace only, so a node that is not in
here is unknown, not dead; and a lease that cannot be read says nothing about the operator. Events
belong to an object if they carry its uid: a later object may have the same name, but never the same
uid.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from kohort.cluster.objects import Object, find_condition, name_of, namespace_of
from kohort.views.ages import find_time

# A lease is renewed every few seconds; a few of them may be lost.
_LEASE_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class NodeState:
    """Whether a node answers, and since when."""

    is_ready: bool
    since: datetime | None = None
    exists: bool = True

    @property
    def trouble(self) -> str:
        """What is the matter with it, as the end of a sentence."""
        return "is not ready" if self.exists else "was deleted"


GONE = NodeState(is_ready=False, exists=False)


@dataclass(frozen=True, slots=True)
class OperatorState:
    """When the operator last said that it is there."""

    lease: str  # namespace/name
    renewed: datetime
    seconds: float = _LEASE_SECONDS
    holder: str = ""

    def is_silent(self, now: datetime) -> bool:
        """Whether the lease has run out, or was given back."""
        return not self.holder or now - self.renewed > timedelta(seconds=self.seconds)


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """The nodes, Warning events and operator of a cluster, as far as the user may read them."""

    nodes: Mapping[str, NodeState] = field(default_factory=dict)
    warnings: Sequence[Object] = ()  # events of type Warning
    operator: OperatorState | None = None  # None: not known
    is_operator: bool = False  # the operator itself judges, so it cannot be away
    _by_uid: dict[str, list[Object]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def find_warnings(self, uid: str, reason: str = "") -> list[Object]:
        """The warnings about one object, the newest first."""
        if self.warnings and not self._by_uid:
            for event in self.warnings:
                self._by_uid.setdefault(find_subject(event).get("uid", ""), []).append(event)
        found = self._by_uid.get(uid, ()) if uid else ()
        about = [event for event in found if reason in ("", event["reason"])]
        return sorted(about, key=last_seen, reverse=True)


NO_FACTS = ClusterFacts()


def read_node(node: Object) -> NodeState:
    """The state of a node."""
    ready = find_condition(node, "Ready") or {}
    return NodeState(ready.get("status") == "True", find_time(ready.get("lastTransitionTime")))


def read_lease(lease: Object) -> OperatorState | None:
    """The state of the operator, from its lease; None if the lease was never renewed."""
    spec: Object = lease.get("spec") or {}
    renewed = find_time(spec.get("renewTime"))
    if renewed is None:
        return None
    return OperatorState(
        lease=f"{namespace_of(lease)}/{name_of(lease)}",
        renewed=renewed,
        seconds=float(spec.get("leaseDurationSeconds") or _LEASE_SECONDS),
        holder=spec.get("holderIdentity") or "",
    )


def find_subject(event: Object) -> Object:
    """The object that an event is about, in either API of events."""
    subject: Object = event.get("involvedObject") or event.get("regarding") or {}
    return subject


def find_text(event: Object) -> str:
    """The message of an event, in one line."""
    return " ".join(str(event.get("message") or event.get("note") or "").split())


def last_seen(event: Object) -> str:
    """When an event last happened, as a timestamp."""
    series = event.get("series") or {}
    stamps = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return _first(stamps)


def first_seen(event: Object) -> str:
    """When an event first happened, as a timestamp."""
    return _first((event.get("firstTimestamp"), event.get("eventTime"), last_seen(event)))


def _first(stamps: Iterable[object]) -> str:
    return next((str(stamp) for stamp in stamps if stamp), "")
