"""Short words for units and progress in tests of planning."""

from collections.abc import Sequence

from kohort.model.observed import Progress
from kohort.model.units import Phase, Unit


def units(states: Sequence[tuple[bool, bool]]) -> list[Unit]:
    """Units from (ready, updated), lowest ordinal first."""
    return [
        Unit(i, "new" if updated else "old", Phase.READY if ready else Phase.STARTING)
        for i, (ready, updated) in enumerate(states)
    ]


def progress(boundary: int, count: int, noted: int, target: str = "new", **more: bool) -> Progress:
    return Progress(boundary, count, noted, target, **more)
