"""
The table columns of custom resources, from ``additionalPrinterColumns``.

A column takes the first value that its path finds. A value of another type
than the column's leaves the cell empty, except in columns of text, which show
anything as JSON would.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import orjson

from kohort.apiserver.resources.printers.ages import show_age
from kohort.apiserver.resources.printers.tables import (
    AGE,
    NAME,
    Column,
    Printed,
    Printer,
    make_printer,
)
from kohort.apiserver.schemas.jsonpath import compile_path
from kohort.cluster.objects import Object

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
