"""
How long a unit takes to start, measured on the units that run.

A start lasts from the creation of the entry member until all members of the unit are ready. A
unit of which a container was restarted is left out: it became ready later for another reason.
The latest starts count, and of these the median, since one slow pull must not decide.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from kohort.model.observed import Instance, Observed

MEASURED_MAX = 12


@dataclass(frozen=True, slots=True)
class Starts:
    """Measured starts of units."""

    count: int = 0
    seconds: float = 0.0  # the median; 0 if there is none


def measure_starts(observed: Observed) -> Starts:
    """The start times of the newest units whose pods show them."""
    found = sorted(_list_starts(observed), reverse=True)[:MEASURED_MAX]
    if not found:
        return Starts()
    return Starts(len(found), float(median(seconds for _, seconds in found)))


def _list_starts(observed: Observed) -> Iterator[tuple[float, float]]:
    """When each unit was made, and how long its start took."""
    for unit in _list_units(observed):
        since = unit.ready_since
        was_restarted = any(member.has_restarted for member in unit.members)
        if since is None or not unit.made_at or was_restarted or unit.amended_at:
            continue
        if since >= unit.made_at:
            yield unit.made_at, since - unit.made_at


def _list_units(observed: Observed) -> Iterator[Instance]:
    for group in observed.groups:
        if not group.roles:
            yield group
        for role in group.roles:
            yield from role.instances
