"""
Reasons: why a plan does less than the user asked for, as values.

A blocker says what waits, on what, and since when is derived from the snapshot.
Status, events, the command line and the dashboard all show this same value.
"""

from dataclasses import dataclass

from kohort.model.units import GROUPS, Line


def count(number: int, one: str, many: str) -> str:
    """How many there are, in words that fit: ``1 group is``, ``2 groups are``."""
    return f"{number} {one if number == 1 else many}"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that is waited for, in words a user can act on."""

    reason: str  # UpperCamelCase, a fact: WaitingForReady
    message: str
    ordinals: tuple[int, ...] = ()  # the units that it concerns
    members: tuple[str, ...] = ()  # the members that it concerns, by name
    hint: str = ""  # the safest next command
    line: Line = GROUPS  # the line that waits


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened or is about to, worth an event."""

    type: str  # Normal or Warning
    reason: str
    message: str
    action: str = ""
    related: str = ""  # name of the object beside the workload that it is about
