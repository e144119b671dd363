"""
Reasons: why a plan does less than the user's spec demands; and notices of what it does.

A blocker names the line that waits and what the line waits for. Status, events, the
command line and the dashboard all show this same value.
"""

from dataclasses import dataclass

from kohort.model.units import GROUPS, Line

# Reasons of rules over roles: the role that waits is ready itself, and another holds it back.
SKEW, VERSIONS = "WaitingForSkew", "WaitingForVersions"
ORDER, ROLE = "WaitingForOrder", "WaitingForRole"
OF_OTHER_ROLES = (SKEW, VERSIONS, ORDER, ROLE)
# Reasons that only the user or another client can end.
HOOK, PROFILE = "WaitingForHook", "WaitingForProfile"
OF_CLIENTS = (HOOK, PROFILE)


def count(number: int, one: str, many: str) -> str:
    """A number with its noun in singular or plural: ``1 group is``, ``2 groups are``."""
    return f"{number} {one if number == 1 else many}"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason why a line waits, in words that a user can act on."""

    reason: str  # UpperCamelCase, a fact: WaitingForReady
    message: str
    ordinals: tuple[int, ...] = ()  # the units that the message is about
    members: tuple[str, ...] = ()  # the members that the message is about, by name
    line: Line = GROUPS  # the line that waits


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened or is about to happen, which becomes an Event object."""

    type: str  # Normal or Warning
    reason: str
    message: str
    action: str = ""
    related: str = ""  # name of another object that the event is about beside the workload
