"""
Cron schedules: five fields or a macro such as @hourly, and the next due time.

Minute, hour, day of the month, month and day of the week; each is ``*``, a number, a range,
a list, or a step. Where both days are named, either will do, as in every cron. Times are
those of the time zone that the caller's moments are in.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_DAYS_MAX = 366 * 8  # a schedule for the 29th of February may skip a leap year


class ScheduleError(Exception):
    """The schedule cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """A parsed cron schedule: the allowed values of each field."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 is Sunday
    is_any_day: bool
    is_any_weekday: bool

    def find_next(self, after: datetime) -> datetime | None:
        """The first due time after the given one; None if there is none in eight years."""
        moment = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
        for _ in range(_DAYS_MAX):
            if self._has_day(moment):
                found = self._find_in_day(moment)
                if found is not None:
                    return found
            moment = (moment + timedelta(days=1)).replace(hour=0, minute=0)
        return None

    def _has_day(self, moment: datetime) -> bool:
        if moment.month not in self.months:
            return False
        is_day = moment.day in self.days
        is_weekday = moment.isoweekday() % 7 in self.weekdays
        if self.is_any_day or self.is_any_weekday:
            return is_day and is_weekday
        return is_day or is_weekday

    def _find_in_day(self, moment: datetime) -> datetime | None:
        for hour in sorted(hour for hour in self.hours if hour >= moment.hour):
            start = moment.minute if hour == moment.hour else 0
            minutes = [minute for minute in self.minutes if minute >= start]
            if minutes:
                return moment.replace(hour=hour, minute=min(minutes))
        return None


def parse_schedule(text: str) -> Schedule:
    """Parse a cron schedule; raises ScheduleError."""
    fields = _WORDS.get(text, text).split()
    if text.startswith("@") and text not in _WORDS:
        raise ScheduleError(f"unrecognized descriptor: {text}")
    if len(fields) != 5:
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{text}]")
    names = ((), (), (), _MONTHS, _DAYS)
    minutes, hours, days, months, weekdays = (
        _parse_field(field, low, high, known)
        for field, (low, high), known in zip(fields, _LIMITS, names, strict=True)
    )
    any_day, any_weekday = (fields[at].startswith(("*", "?")) for at in (2, 4))
    return Schedule(minutes, hours, days, months, weekdays, any_day, any_weekday)


def _parse_field(text: str, low: int, high: int, names: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        body, slash, step_text = part.partition("/")
        step = _parse_number(step_text, 1, high, ()) if slash else 1
        if body in ("*", "?"):
            start, end = low, high
        else:
            first, dash, last = body.partition("-")
            start = _parse_number(first, low, high, names)
            end = _parse_number(last, low, high, names) if dash else (high if slash else start)
        if start > end:
            raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {part}")
        found.update(range(start, end + 1, step))
    return frozenset(found)


def _parse_number(text: str, low: int, high: int, names: tuple[str, ...]) -> int:
    if text.lower() in names:
        return names.index(text.lower()) + low
    if not (text.isascii() and text.isdigit() and len(text) < 5):
        raise ScheduleError(f"failed to parse int from {text}: invalid syntax")
    number = int(text)
    if number < low:
        raise ScheduleError(f"beginning of range ({number}) below minimum ({low}): {text}")
    if number > high:
        raise ScheduleError(f"end of range ({number}) above maximum ({high}): {text}")
    return number
