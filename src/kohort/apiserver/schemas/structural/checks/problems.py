"""
Problems: errors of a check, whose path is completed on the way out of the value.

A check is a closure over one schema. It knows the value, not the way to it,
so its problem starts without a path and every list and object on the way up
adds its own segment. A valid object therefore never pays for a path. The
texts are those of the API, which repeats the path inside the sentence.
"""

from collections.abc import Callable
from typing import Any

from kohort.cluster.fields import FieldError, FieldErrorType

# The path of an error that belongs to no field.
NOWHERE = "<nil>"


class Key(str):
    """A segment that is a key of a map, which some texts write in brackets."""

    __slots__ = ()


Segment = str | int


class Problem:
    """One broken rule; ``segments`` runs from the value outwards."""

    __slots__ = (
        "detail",
        "fault",
        "is_late",
        "is_loose",
        "segments",
        "sheltered",
        "tail",
        "value",
    )

    def __init__(
        self,
        fault: FieldErrorType,
        detail: str,
        value: Any = "",
        *,
        tail: str = "",
        loose: bool = False,
    ) -> None:
        self.fault = fault
        self.detail = detail
        self.value = value
        self.tail = tail
        # Loose problems carry their path in the sentence only.
        self.is_loose = loose
        # Late problems are found after all others, and CEL rules run in spite of them.
        self.is_late = False
        self.segments: list[Segment] = []
        # How many segments lie inside anyOf and the like, which ratcheting ignores.
        self.sheltered = 0

    def render(self, prefix: str = "") -> FieldError:
        """The problem as a field error, with its path put together."""
        path = dotted(self.segments)
        if self.is_late:
            where = bracketed(self.segments) + self.tail
            return FieldError(self.fault, where, self.detail, self.value)
        detail = self.detail.replace(PATH, path) if self.detail else ""
        if self.is_loose:
            return FieldError(self.fault, prefix or NOWHERE, detail, self.value)
        name = (path + self.tail).removeprefix(".")
        where = f"{prefix}.{name}" if prefix and name else prefix or name or NOWHERE
        return FieldError(self.fault, where, detail, self.value)


# Stands for the path in a detail until the path is known.
PATH = "\0path\0"

Found = list[Problem] | None
Check = Callable[[Any], Found]


def dotted(segments: list[Segment]) -> str:
    """The path in dots, with brackets for positions only."""
    text = "".join(
        f"[{part}]" if isinstance(part, int) else f".{part}" for part in reversed(segments)
    )
    return text.removeprefix(".")


def bracketed(segments: list[Segment]) -> str:
    """The path in dots, with brackets for positions and for keys of maps."""
    text = "".join(
        f"[{part}]" if isinstance(part, int | Key) else f".{part}" for part in reversed(segments)
    )
    return text.removeprefix(".")


def type_problem(expected: str, seen: str) -> Problem:
    """The problem of a value with another type than the schema's."""
    detail = f'{PATH} in body must be of type {expected}: "{seen}"'
    return Problem(FieldErrorType.TYPE_INVALID, detail, seen)


def invalid(text: str, value: Any) -> Problem:
    """The problem of a value that breaks a rule; the text follows the path."""
    return Problem(FieldErrorType.INVALID, f"{PATH} in body {text}", value)


def loose(text: str) -> Problem:
    """A problem that the API reports without a field."""
    return Problem(FieldErrorType.INVALID, text, loose=True)
