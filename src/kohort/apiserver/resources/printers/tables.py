"""
Printers: the columns and cells of a kind in the tables for kubectl.

A printer is a value: its columns, how an object becomes a row of cells, and
the conditions that a row may carry. Columns with a priority are for wide
tables; the client leaves them out, so a row has all its cells. Time is an
argument, since ages depend on it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from kohort.apiserver.resources.printers.ages import show_age
from kohort.cluster.objects import Object, metadata_of, name_of

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
