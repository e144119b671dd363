"""
The condition ``Blocked``: the verdict of ``kohort`` commands, shown in ``kubectl describe`` too.

Kohort adds it beside the conditions that an API defines, and only once it has been true. The
operator emits one Warning event when it becomes true or its reason changes. The verdict comes
from ``views.health``. This module only collects its input: the nodes of members that are not
ready, from the caches, and the Warning events about StatefulSets that lack pods and about pods
that wait for their volumes, which it lists from the API server when pods are late.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import orjson

from kohort.apis.api import Api, Reading, Snapshot
from kohort.cluster.conditions import move_to_end
from kohort.cluster.errors import KohortError
from kohort.cluster.kinds import EVENT
from kohort.cluster.objects import Object, find_condition, namespace_of, uid_of
from kohort.cluster.port import Cluster, Selection
from kohort.cluster.timestamps import write_time
from kohort.controller.admission.probe import (
    LATE_RECHECK_SECONDS,
    LATE_SECONDS,
    MOMENT_SECONDS,
    ProbeState,
)
from kohort.model.plans import Plan
from kohort.model.reasons import Notice
from kohort.views.ages import find_time
from kohort.views.evidence.children import REFUSED, find_lacking, is_refusal
from kohort.views.evidence.cluster import GONE, ClusterFacts, NodeState
from kohort.views.evidence.volumes import awaits_volumes
from kohort.views.health import BLOCKED, Health, Word, judge
from kohort.views.picture import Picture, find_troubles
from kohort.views.samples import Sample
from kohort.views.troubles import MOUNTING_PATIENCE, find_patience_end

_SUBJECTS_MAX = 3  # sets or pods whose Warning events are read; more would say the same
# A pod may be bound to a node before our cache has the node; after so long the node is gone.
_NODE_PATIENCE = timedelta(seconds=60)
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_MESSAGE_MAX = 32_768
_NOTE_MAX = 1_000


@dataclass(slots=True)
class Warnings:
    """The last read Warning events about sets and pods; a restart may lose them safely."""

    events: list[Object] = field(default_factory=list)
    read_at: float | None = None
    # Messages of creates that the API server refuses, and since when.
    refusals: dict[str, str] = field(default_factory=dict)

    def note_refusals(self, notices: tuple[Notice, ...], now: str) -> None:
        """Keep the refusals of this reconcile, with their first time, and forget all others."""
        told = [n.message for n in notices if is_refusal(n.reason, n.message)]
        self.refusals = {text: self.refusals.get(text, now) for text in told}

    def about(self, root: Object, now: datetime) -> list[Object]:
        """All warnings as Event objects: those read, and one for each refusal noted here."""
        stamp = write_time(now)
        subject = {"uid": uid_of(root)}
        own = [
            {
                "involvedObject": subject,
                "reason": REFUSED,
                "message": text,
                "firstTimestamp": since,
                "lastTimestamp": stamp,
            }
            for text, since in self.refusals.items()
        ]
        return [*self.events, *own]


@dataclass(frozen=True, slots=True)
class HealthReport:
    """A verdict, the status that contains it, and when time alone may change it."""

    health: Health
    status: Object
    recheck_seconds: float | None = None

    def list_events(self, root: Object) -> tuple[Notice, ...]:
        """One event, if the stored object does not show this verdict yet."""
        held = find_condition(root, BLOCKED) or {}
        told = find_condition({"status": self.status}, BLOCKED) or {}
        is_old = (held.get("status"), held.get("reason")) == ("True", told.get("reason"))
        if told.get("status") != "True" or is_old:
            return ()
        text = str(told.get("message", ""))[:_NOTE_MAX]
        return (Notice("Warning", str(told["reason"]), text, "Update"),)


class HealthReporter:
    """Judges the health of the workloads of one API."""

    def __init__(self, api: Api, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster

    async def read_warnings(
        self,
        snapshot: Snapshot,
        probe_state: ProbeState,
        known: Warnings,
        elapsed: float,
        now: datetime,
    ) -> None:
        """List the events that say why pods are missing or wait for volumes, if they are late."""
        unmounted = [uid for uid, late in self._list_unmounted(snapshot, now) if late <= 0]
        if probe_state.missing_since is None and not unmounted:
            known.events, known.read_at = [], None
            return
        lacking_since = elapsed if probe_state.missing_since is None else probe_state.missing_since
        is_late = bool(unmounted) or elapsed - lacking_since >= LATE_SECONDS
        if not is_late or (known.read_at is not None and elapsed - known.read_at < LATE_SECONDS):
            return
        known.read_at, known.events = elapsed, []
        lacking = [found.metadata.uid for found in find_lacking(snapshot)]
        for uid in (*lacking[:_SUBJECTS_MAX], *unmounted[:_SUBJECTS_MAX]):
            fields = f"involvedObject.uid={uid},type=Warning"
            selection = Selection(EVENT, namespace_of(snapshot.root), fields=fields)
            # Without permission to list events, the operator judges without them.
            with suppress(KohortError):
                listing = await self._cluster.list(selection)
                known.events += [orjson.loads(raw) for raw in listing.items]

    def _list_unmounted(self, snapshot: Snapshot, now: datetime) -> Iterator[tuple[str, float]]:
        """The pods that wait for volumes, and the seconds until each has waited too long."""
        for pod in snapshot.all(self._api.members):
            if pod.details is None or not awaits_volumes(pod.details):
                continue
            placed = find_condition(pod.details, "PodScheduled") or {}
            since = find_time(placed.get("lastTransitionTime")) or now
            yield pod.metadata.uid, (since + MOUNTING_PATIENCE - now).total_seconds()

    def rule(
        self,
        snapshot: Snapshot,
        reading: Reading[object],
        decided: Plan,
        known: Warnings,
        now: datetime,
    ) -> HealthReport:
        """The verdict on a workload, and its status with the ``Blocked`` condition added."""
        pods = snapshot.all(self._api.members)
        details = {pod.metadata.name: pod.details for pod in pods if pod.details is not None}
        sample = Sample(snapshot, {}, details)
        facts = ClusterFacts(
            _find_nodes(snapshot, details, now), known.about(snapshot.root, now), is_operator=True
        )
        troubles = find_troubles(reading, sample, now, facts)
        picture = Picture(self._api, sample, now, reading, decided, None, troubles, (), facts)
        health = judge(picture)
        ends = [end for t in troubles if (end := find_patience_end(t)) is not None]
        # A pod that another object holds up is not stuck itself, however long it takes.
        seconds = [(end - now).total_seconds() + MOMENT_SECONDS for end in ends if end >= now]
        unmounted = (late for _, late in self._list_unmounted(snapshot, now))
        seconds += [
            late + MOMENT_SECONDS if late > 0 else LATE_RECHECK_SECONDS for late in unmounted
        ]
        status = write_blocked(snapshot.root, health, now)
        return HealthReport(health, status, min(seconds, default=None))


def _find_nodes(
    snapshot: Snapshot, details: dict[str, Object], now: datetime
) -> dict[str, NodeState]:
    """The state of the nodes of these pods; a node missing from the cache for long is gone."""
    found: dict[str, NodeState] = {}
    for pod in details.values():
        name = pod["spec"].get("nodeName", "")
        if not name or name in found:
            continue
        node = snapshot.nodes.get(name)
        if node is not None:
            found[name] = NodeState(node.is_ready, find_time(node.ready_since))
            continue
        made = find_time(pod["metadata"].get("creationTimestamp"))
        if made is not None and now - made > _NODE_PATIENCE:
            found[name] = GONE
    return found


def write_blocked(root: Object, health: Health, now: datetime) -> Object:
    """The status with this verdict as condition; unchanged if the object was never blocked."""
    status: Object = root.get("status") or {}
    old = find_condition(root, BLOCKED)
    is_blocked = health.word in (Word.BLOCKED, Word.BROKEN)
    if not is_blocked and (old is None or old["status"] != "True"):
        return status
    new: Object = {"type": BLOCKED, "status": "False", "reason": "Unblocked"}
    new["message"] = "what blocked it is gone"
    if is_blocked:
        is_valid = _REASON.fullmatch(health.reason) is not None
        new |= {"status": "True", "reason": health.reason if is_valid else BLOCKED}
        new["message"] = health.message[:_MESSAGE_MAX]
    new["observedGeneration"] = root["metadata"].get("generation", 0)
    held: list[Object] = status.get("conditions") or []
    return {**status, "conditions": move_to_end(held, new, write_time(now))}
