"""
What became of each field when an object was converted to another kind.

A line has one of three levels. Exact: pods behave as before. Approximate: something differs in a
way that the line names. Lost: there is no counterpart; some losses matter to the user of the
workload, and some do not, such as a field that changed nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kohort.cluster.errors import KohortError
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object, name_of, namespace_of


class ConversionRefused(KohortError):
    """The object cannot be converted at all; the message tells the user what to do."""


class Level(StrEnum):
    """How well the conversion kept a field."""

    EXACT = "exact"
    APPROXIMATE = "approximate"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class ReportLine:
    """The result for one field of one object."""

    subject: str  # the object: kind/name
    level: Level
    field: str
    target: str = ""  # the field that it became; empty: none
    note: str = ""
    matters: bool = False  # whether a loss changes what the workload does

    def __str__(self) -> str:
        arrow = f" -> {self.target}" if self.target else ""
        note = f": {self.note}" if self.note else ""
        return f"{self.level:<11}  {self.subject}  {self.field}{arrow}{note}"


@dataclass(slots=True)
class ConversionReport:
    """The lines about one object, in the order in which the conversion found them."""

    subject: str
    lines: list[ReportLine] = field(default_factory=list)

    def exact(self, source: str, target: str, note: str = "") -> None:
        """Report that the field is kept."""
        self.lines.append(ReportLine(self.subject, Level.EXACT, source, target, note))

    def approximate(self, source: str, target: str, note: str) -> None:
        """Report that the field is kept with a difference, which the note names."""
        self.lines.append(ReportLine(self.subject, Level.APPROXIMATE, source, target, note))

    def lost(self, source: str, note: str, *, matters: bool = True) -> None:
        """Report that the field has no counterpart."""
        self.lines.append(ReportLine(self.subject, Level.LOST, source, "", note, matters))


@dataclass(frozen=True, slots=True)
class Converted:
    """The object of the other kind, and what became of each field."""

    object: Object
    lines: tuple[ReportLine, ...]


def open_report(obj: Object) -> ConversionReport:
    """A new report on an object, without lines."""
    namespace = namespace_of(obj)
    where = f"{namespace}/" if namespace else ""
    return ConversionReport(f"{obj.get('kind')}/{where}{name_of(obj)}")


def report_unknown(
    report: ConversionReport, path: str, found: Mapping[str, Any], known: Iterable[str]
) -> None:
    """Report every field that this version of Kohort does not know as lost, which may matter."""
    for name in sorted(found.keys() - set(known)):
        report.lost(f"{path}.{name}", "this version of Kohort knows no such field")


def refuse_faults(source: Object, converted: Object, faults: Iterable[FieldError]) -> None:
    """Raise ConversionRefused if the API server would refuse the converted object."""
    found = [str(fault) for fault in faults]
    if found:
        raise ConversionRefused(
            f"{source.get('kind')} {name_of(source)} makes no valid {converted.get('kind')}: "
            f"{'; '.join(found)}"
        )
