"""
The recorder: the history of each workload's units, in bounded memory.

Timestamps in the status of pods show their phases, so the time line of a unit is known from its
first moment on. What pods do not show, such as a former incarnation, is recorded here.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from kohort.views.picture import Picture
from kohort.views.timeline import (
    LEAVING,
    PHASES,
    Band,
    Lane,
    Level,
    Mark,
    Span,
    Timeline,
    UnitNow,
    find_mark,
    list_units,
    measure_levels,
)

SPANS_MAX = 24
LANES_MAX = 200
LEVELS_MAX = 240
MARKS_MAX = 20
_ORDER = {phase: place for place, phase in enumerate(PHASES)}
_GONE_KEPT = timedelta(minutes=15)


@dataclass(slots=True)
class _LaneRecord:
    incarnation: str = ""
    past: deque[Span] = field(default_factory=lambda: deque(maxlen=SPANS_MAX))
    present: tuple[Span, ...] = ()
    # When the unit fell back to an earlier phase; spans before it have ended.
    fell_back: datetime | None = None


class WorkloadRecord:
    """The recorded history of one workload."""

    def __init__(self) -> None:
        self._lanes: dict[str, _LaneRecord] = {}
        self._levels: dict[str, deque[Level]] = {}
        self._marks: deque[Mark] = deque(maxlen=MARKS_MAX)
        # The last picture, recorded when another comes or the record is read.
        self._last: Picture | None = None

    def note(self, picture: Picture) -> None:
        """Record the current state of the workload."""
        self._take_last()
        self._last = picture

    def _take_last(self) -> None:
        if self._last is not None:
            self._take(self._last)
            self._last = None

    def _take(self, picture: Picture) -> None:
        units = {unit.name: unit for unit in list_units(picture)}
        for unit in units.values():
            self.note_unit(unit, picture.now)
        for name in self._lanes.keys() - units.keys():
            self._end(self._lanes[name], picture.now)
        self._forget(picture.now)
        for role, level in measure_levels(picture).items():
            levels = self._levels.setdefault(role, deque(maxlen=LEVELS_MAX))
            if not levels or replace(levels[-1], at=level.at) != level:
                levels.append(level)
        mark = find_mark(picture)
        if mark is not None and (mark.at, mark.reason) not in {
            (m.at, m.reason) for m in self._marks
        }:
            self._marks.append(mark)

    def note_unit(self, unit: UnitNow, now: datetime) -> None:
        """Record the current state of one unit."""
        if unit.name not in self._lanes and len(self._lanes) >= LANES_MAX:
            return
        lane = self._lanes.setdefault(unit.name, _LaneRecord())
        if lane.incarnation != unit.incarnation:
            self._end(lane, now)
        spans = _clip(unit.spans, lane.fell_back)
        if lane.present and spans and _ORDER[spans[-1].phase] < _ORDER[lane.present[-1].phase]:
            lane.past.extend(_cut(span, now) for span in lane.present)
            lane.fell_back = now
            spans = _clip(unit.spans, now)
        if lane.present and spans and spans[-1].phase == LEAVING:
            spans = _leave(lane.present, spans[-1])
        lane.incarnation, lane.present = unit.incarnation, spans

    @staticmethod
    def _end(lane: _LaneRecord, now: datetime) -> None:
        lane.past.extend(_cut(span, now) for span in lane.present)
        lane.incarnation, lane.present, lane.fell_back = "", (), None

    def _forget(self, now: datetime) -> None:
        """Drop lanes of units that were deleted long ago."""
        old = [
            name
            for name, lane in self._lanes.items()
            if not lane.present and (not lane.past or now - (lane.past[-1].end or now) > _GONE_KEPT)
        ]
        for name in old:
            del self._lanes[name]

    def read(self) -> Timeline:
        """The time line of the workload."""
        self._take_last()
        return Timeline(
            lanes=tuple(Lane(n, (*lane.past, *lane.present)) for n, lane in self._lanes.items()),
            bands=tuple(Band(role, tuple(levels)) for role, levels in self._levels.items()),
            marks=tuple(self._marks),
        )


def _clip(spans: tuple[Span, ...], since: datetime | None) -> tuple[Span, ...]:
    """The part of spans from a moment on."""
    if since is None:
        return spans
    left = (span for span in spans if span.end is None or span.end > since)
    return tuple(replace(span, start=max(span.start, since)) for span in left)


def _leave(known: tuple[Span, ...], leaving: Span) -> tuple[Span, ...]:
    """The known phases of a unit until it leaves; its pods forget since when they were ready."""
    return (*(_cut(s, leaving.start) for s in known if s.phase != LEAVING), leaving)


def _cut(span: Span, end: datetime) -> Span:
    """A span that has ended, at the latest then."""
    return replace(span, end=max(span.start, min(span.end or end, end)))
