"""
The time line of a workload: one lane for each group or instance, and the budget as a band.

The phases of a unit are read off the timestamps of its pods: waiting for a node, pulling images,
loading weights, ready, leaving. A unit is in a phase until the last of its members has left it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from kohort.cluster.objects import Object, find_condition, metadata_of
from kohort.model.observed import Group, Instance
from kohort.model.units import Phase
from kohort.views.ages import find_time
from kohort.views.health import judge
from kohort.views.picture import Picture

WAITING, PULLING, LOADING, READY, LEAVING = "waiting", "pulling", "loading", "ready", "leaving"
PHASES = (WAITING, PULLING, LOADING, READY, LEAVING)


@dataclass(frozen=True, slots=True)
class Span:
    """One phase of a unit; it goes on where it has no end."""

    phase: str
    start: datetime
    end: datetime | None
    revision: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One group, or one instance of a role, with the phases that it went through."""

    name: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """How many units were ready from a moment on, and between which bounds a rollout keeps them."""

    at: datetime
    ready: int
    wanted: int
    least: int  # wanted less maxUnavailable
    most: int  # wanted and maxSurge


@dataclass(frozen=True, slots=True)
class Band:
    """The ready units of one line over time; the name is that of a role, or empty for groups."""

    role: str
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """The moment from which a workload needed help, and why."""

    at: datetime
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened to the units of a workload, as far as it is known."""

    lanes: tuple[Lane, ...]
    bands: tuple[Band, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class UnitNow:
    """One unit at one moment: its incarnation, and the phases that are read from its pods."""

    name: str
    incarnation: str
    spans: tuple[Span, ...]


def list_units(picture: Picture) -> Iterable[UnitNow]:
    """The groups of a workload, or the instances of its roles where it names roles."""
    for group in picture.reading.observed.groups if picture.reading else ():
        named = [held for held in group.roles if held.role]
        if not named:
            yield _read_unit(picture, f"group {group.ordinal}", group)
        for held in named:
            for instance in held.instances:
                name = _name_instance(picture, group, held.role, instance)
                yield _read_unit(picture, name, instance)


def _name_instance(picture: Picture, group: Group, role: str, instance: Instance) -> str:
    """An instance as a lane names it; a role that its workload is by itself has no name."""
    if not picture.is_one_group:
        return f"group {group.ordinal}, {role} {instance.ordinal}"
    return f"{'instance' if role == picture.name else role} {instance.ordinal}"


def _read_unit(picture: Picture, name: str, unit: Instance) -> UnitNow:
    current = [member for member in unit.members if member.is_current]
    pods = [p for m in current if (p := picture.sample.find_member(m.name)) is not None]
    carried = {member.revision for member in current}
    key = unit.revision or (carried.pop() if len(carried) == 1 else "")
    incarnation = unit.incarnation or "/".join(sorted(member.uid for member in current))
    is_whole = len(current) >= unit.size
    spans = find_spans(pods, picture.name_revision(key), is_ready=unit.phase is Phase.READY)
    return UnitNow(name, incarnation, spans if is_whole or len(spans) < 2 else spans[:1])


def find_spans(pods: Sequence[Object], revision: str, *, is_ready: bool) -> tuple[Span, ...]:
    """The phases of a unit that has these pods; the last one goes on."""
    created = [t for pod in pods if (t := find_time(metadata_of(pod).get("creationTimestamp")))]
    if not created:
        return ()
    starts = [(WAITING, min(created))]
    leaving = [t for pod in pods if (t := _find_leaving(pod)) is not None]
    moments = (
        (PULLING, [_find_true(pod, "PodScheduled") for pod in pods]),
        (LOADING, [_find_started(pod) for pod in pods]),
        (READY, [_find_true(p, "Ready") for p in pods] if is_ready or leaving else [None]),
    )
    for phase, found in moments:
        if None in found:
            break
        starts.append((phase, max(moment for moment in found if moment)))
    if leaving:
        starts.append((LEAVING, min(leaving)))
    return tuple(_join(starts, revision))


def _join(starts: list[tuple[str, datetime]], revision: str) -> Iterable[Span]:
    """Spans from the moments at which phases begin; a phase that took no time is left out."""
    for (phase, start), (_, end) in pairwise(starts):
        if end > start:
            yield Span(phase, start, end, revision)
    phase, start = starts[-1]
    yield Span(phase, start, None, revision)


def _find_true(pod: Object, name: str) -> datetime | None:
    condition = find_condition(pod, name) or {}
    is_true = condition.get("status") == "True"
    return find_time(condition.get("lastTransitionTime")) if is_true else None


def _find_started(pod: Object) -> datetime | None:
    """When the last container started; None while one has not."""
    statuses: list[Any] = (pod.get("status") or {}).get("containerStatuses") or []
    states = [(status.get("state") or {}).get("running") or {} for status in statuses]
    moments = [find_time(state.get("startedAt")) for state in states]
    return max((m for m in moments if m), default=None) if None not in moments else None


def _find_leaving(pod: Object) -> datetime | None:
    """When the deletion of a pod was asked for; its timestamp is when the grace period ends."""
    due = find_time(metadata_of(pod).get("deletionTimestamp"))
    if due is None:
        return None
    return due - timedelta(seconds=metadata_of(pod).get("deletionGracePeriodSeconds") or 0)


def measure_levels(picture: Picture) -> dict[str, Level]:
    """How many units are ready now, by role; the key is empty for groups."""
    if picture.reading is None or picture.plan is None:
        return {}
    workload, report = picture.reading.workload, picture.plan.report
    own = [role for role in workload.roles if role.rollout and role.name in report.roles]
    if not own:
        rule = workload.rollout
        ready = report.groups_ready
        least, most = max(0, report.wanted - rule.max_unavailable), report.wanted + rule.max_surge
        return {"": Level(picture.now, ready, report.wanted, least, most)}
    found: dict[str, Level] = {}
    for role in own:
        counts, budget = report.roles[role.name], role.rollout
        assert budget is not None
        least = max(0, counts.wanted - budget.max_unavailable)
        most = counts.wanted + budget.max_surge
        found[role.name] = Level(picture.now, counts.ready, counts.wanted, least, most)
    return found


def find_mark(picture: Picture) -> Mark | None:
    """Why a workload needs help now, if it does."""
    health = judge(picture)
    if not health.word.needs_help:
        return None
    return Mark(health.since or picture.now, health.reason, health.message)
