"""
Printers: the columns and cells of a kind in the tables for kubectl.

A printer is a value: its columns, how an object becomes a row of cells, and
the conditions that a row may carry. Columns with a priority are for wide
tables; the client leaves them out, so a row has all its cells. Time is an
argument, since ages depend on it.

Durations have kubectl's short form, such as 5d3h. The longer the span, the coarser the text: a
reader of ``3d4h`` does not miss the minutes. The limits are those of Kubernetes.

The columns of a custom resource come from ``additionalPrinterColumns``. Such a column takes the
first value that its path finds. A value of another type than the column's leaves the cell empty,
except in columns of text, which show anything as JSON would.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from kohort.apiserver.schemas.jsonpath import compile_path
from kohort.cluster.objects import Object, metadata_of, name_of

_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86400
_YEAR = 365 * _DAY
_SIZES = {"s": _SECOND, "m": _MINUTE, "h": _HOUR, "d": _DAY, "y": _YEAR}

# Below each limit, the text counts in these units, the second one only if it is not zero.
_STEPS = (
    (2 * _MINUTE, "s"),
    (10 * _MINUTE, "ms"),
    (3 * _HOUR, "m"),
    (8 * _HOUR, "hm"),
    (2 * _DAY, "h"),
    (8 * _DAY, "dh"),
    (2 * _YEAR, "d"),
    (8 * _YEAR, "yd"),
)


def show_duration(seconds: int) -> str:
    """A duration as text; ``<invalid>`` if it is negative by more than a second."""
    if seconds < -1:
        return "<invalid>"
    rest = max(seconds, 0)
    units = next((units for limit, units in _STEPS if rest < limit), "y")
    parts: list[str] = []
    for unit in units:
        count, rest = divmod(rest, _SIZES[unit])
        if count or not parts:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def show_age(timestamp: Any, now: datetime) -> str:
    """The age of a timestamp; ``<unknown>`` if there is none."""
    if not timestamp:
        return "<unknown>"
    moment = find_moment(timestamp)
    return "<invalid>" if moment is None else show_duration(int((now - moment).total_seconds()))


def find_moment(timestamp: Any) -> datetime | None:
    """The time in a timestamp; None if it is invalid or has no time zone."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


NONE, UNSET, UNKNOWN = "<none>", "<unset>", "<unknown>"

ReadCell = Callable[[Object, datetime], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column, as clients receive it."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


class Printed(NamedTuple):
    """A column, and the function that computes its cells."""

    column: Column
    read: ReadCell


def shown(
    name: str, read: Callable[[Object], Any], description: str = "", *, type: str = "string"
) -> Printed:
    """A column whose cells depend on the object alone."""
    return Printed(Column(name, type, "", description), lambda obj, now: read(obj))


def wide(name: str, read: Callable[[Object], Any], description: str = "") -> Printed:
    """A column that only wide tables show."""
    return Printed(Column(name, "string", "", description, 1), lambda obj, now: read(obj))


def timed(name: str, read: ReadCell, description: str = "", *, priority: int = 0) -> Printed:
    """A column whose cells depend on the time as well."""
    return Printed(Column(name, "string", "", description, priority), read)


def read_age(obj: Object, now: datetime) -> str:
    """How long ago the object was created."""
    return show_age(metadata_of(obj).get("creationTimestamp"), now)


NAME = Printed(
    Column("Name", "string", "name", "The name of the object."), lambda obj, now: name_of(obj)
)
AGE = timed("Age", read_age, "How long ago the object was created.")
CREATED_AT = shown(
    "Created At",
    lambda obj: metadata_of(obj).get("creationTimestamp"),
    "When the object was created.",
    type="date",
)


def spec_of(obj: Object) -> Object:
    """The spec of an object, or an empty one."""
    return obj.get("spec") or {}


def status_of(obj: Object) -> Object:
    """The status of an object, or an empty one."""
    return obj.get("status") or {}


def _read_default(obj: Object, now: datetime) -> list[Any]:
    return [NAME.read(obj, now), CREATED_AT.read(obj, now)]


def _no_conditions(obj: Object) -> list[Object]:
    return []


@dataclass(frozen=True, slots=True)
class Printer:
    """How objects of one kind become rows; without arguments, with their name and creation."""

    columns: tuple[Column, ...] = (NAME.column, CREATED_AT.column)
    cells: Callable[[Object, datetime], list[Any]] = _read_default
    conditions: Callable[[Object], list[Object]] = _no_conditions


def make_printer(
    *printed: Printed, conditions: Callable[[Object], list[Object]] = _no_conditions
) -> Printer:
    """A printer of these columns."""
    reads = [column.read for column in printed]

    def read_cells(obj: Object, now: datetime) -> list[Any]:
        return [read(obj, now) for read in reads]

    return Printer(tuple(column.column for column in printed), read_cells, conditions)


Show = Callable[[Any, datetime], Any]

_AGE = Printed(Column("Age", "date", "", "How long ago the object was created."), AGE.read)


def custom_printer(columns: Sequence[Object] | None = None) -> Printer:
    """A printer of these ``additionalPrinterColumns``; with none, of the name and age."""
    if not columns:
        return make_printer(NAME, _AGE)
    return make_printer(NAME, *(_read_column(raw) for raw in columns))


def _read_column(raw: Object) -> Printed:
    head = Column(
        raw["name"],
        raw["type"],
        raw.get("format", ""),
        raw.get("description", ""),
        raw.get("priority", 0),
    )
    find_all = compile_path(raw["jsonPath"])
    show: Show = _SHOWN.get(head.type, _show_text)

    def read(obj: Object, now: datetime) -> Any:
        found = find_all(obj)
        return show(found[0], now) if found else None

    return Printed(head, read)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _show_integer(value: Any, _now: datetime) -> int | None:
    return int(value) if _is_number(value) else None


def _show_number(value: Any, _now: datetime) -> float | None:
    return _simplify(value) if _is_number(value) else None


def _show_boolean(value: Any, _now: datetime) -> bool | None:
    return value if isinstance(value, bool) else None


def _show_date(value: Any, now: datetime) -> str | None:
    return show_age(value, now) if isinstance(value, str) else None


def _show_text(value: Any, _now: datetime) -> str:
    if value is None:
        return "<no value>"
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(_simplify(value))
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _simplify(value: float) -> float:
    """The number without a point if it is whole."""
    return int(value) if float(value).is_integer() else value


_SHOWN: dict[str, Show] = {
    "integer": _show_integer,
    "number": _show_number,
    "boolean": _show_boolean,
    "date": _show_date,
}
