"""
Shared by all strategies: queries over units, and the arithmetic of surge.

A strategy is a pure function from units, progress and policy to one step. The user may
change the strategy at any moment, even in the middle of a rollout, so a strategy relies
on its arguments only.
"""

from collections.abc import Callable, Iterable, Sequence

from kohort.model.observed import Progress
from kohort.model.plans import Rollout
from kohort.model.policies import RolloutPolicy
from kohort.model.units import Phase, Unit

Strategy = Callable[[Sequence[Unit], Progress | None, str, RolloutPolicy], Rollout]


class Roster:
    """Units by ordinal, with the queries of strategies. A missing unit is not ready."""

    def __init__(self, units: Iterable[Unit], target: str) -> None:
        self._units = {unit.ordinal: unit for unit in units if unit.phase is not Phase.LEAVING}
        self._target = target

    def is_ready(self, ordinal: int) -> bool:
        """Whether the unit is ready."""
        unit = self._units.get(ordinal)
        return unit is not None and unit.is_ready

    def is_available(self, ordinal: int) -> bool:
        """Whether the unit is ready, and has been for long enough."""
        unit = self._units.get(ordinal)
        return unit is not None and unit.is_available

    def is_updated(self, ordinal: int) -> bool:
        """Whether the unit has the target revision."""
        unit = self._units.get(ordinal)
        return unit is not None and unit.revision == self._target

    def is_done(self, ordinal: int) -> bool:
        """Whether the unit has the target revision and is available."""
        return self.is_available(ordinal) and self.is_updated(ordinal)

    def is_stale(self, ordinal: int) -> bool:
        """Whether the unit exists on another revision."""
        unit = self._units.get(ordinal)
        return unit is not None and unit.revision != self._target

    def is_edited(self, ordinal: int) -> bool:
        """Whether the unit must be recreated because another client edited or restarted it."""
        unit = self._units.get(ordinal)
        return unit is not None and unit.is_edited

    def find_end(self) -> int:
        """The ordinal above the highest unit; 0 if there is none."""
        return max(self._units, default=-1) + 1

    def available(self) -> list[int]:
        """The ordinals of all available units."""
        return [ordinal for ordinal, unit in self._units.items() if unit.is_available]

    def stale(self, start: int, end: int) -> list[int]:
        """The units of an interval that exist on another revision, lowest first."""
        # Search the units that exist, not the wanted ordinals, which may be millions.
        return sorted(o for o in self._units if start <= o < end and self.is_stale(o))

    def count_available(self, end: int) -> int:
        """How many units below an ordinal are available."""
        return sum(o < end and unit.is_available for o, unit in self._units.items())

    def count_done(self, end: int) -> int:
        """How many units below an ordinal have the target revision and are available."""
        return sum(o < end and self.is_done(o) for o in self._units)

    def count_settling(self, end: int) -> int:
        """How many units below an ordinal are ready but not available yet."""
        found = (unit for o, unit in self._units.items() if o < end)
        return sum(unit.is_ready and not unit.is_available for unit in found)


def count_while_rolling(policy: RolloutPolicy, unready: int) -> int:
    """
    The unit count of a rollout while ``unready`` of the wanted units are not done.

    Unavailable units within maxUnavailable need no extra unit in their place, so the count is
    lower once no more units are left than there is surge. The compatible strategy counts them
    anew at each step, as the upstream controller does; the budgeted one always takes all wanted.
    """
    if unready <= policy.surge:
        return policy.wanted + max(0, unready - policy.max_unavailable)
    return policy.wanted + policy.surge


def spent(roster: Roster, progress: Progress, target: str) -> tuple[int, ...]:
    """The stale units that an earlier step released, which the operator may take down now."""
    if progress.target != target or not progress.is_seen:
        return ()
    return tuple(reversed(roster.stale(progress.boundary, progress.count)))
