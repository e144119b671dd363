"""
Growth: how many units may be on their way at once.

The user may limit how many units of a line are not available while more are made, so that a
large change of scale does not overload what all of them start from. A unit that is made counts
until it is available. The limit slows growth down and deletes nothing; it is one at least.
"""

from collections.abc import Sequence

from kohort.model.plans import Make
from kohort.model.reasons import Blocker, count
from kohort.model.units import Phase, Unit
from kohort.planning.lines import LineState

REASON = "WaitingForGrowth"


def limit_growth(
    makes: tuple[Make, ...], state: LineState, units: Sequence[Unit]
) -> tuple[tuple[Make, ...], tuple[Blocker, ...]]:
    """The units that may be made now, and why no more."""
    most = state.rollout.growth_max
    if most is None or not makes:
        return makes, ()
    away = sum(not u.is_available and u.phase is not Phase.LEAVING for u in units)
    allowed = max(0, max(1, most) - away)
    if allowed >= len(makes):
        return makes, ()
    rest = len(makes) - allowed
    what = count(rest, f"{state.noun} is", f"{state.noun}s are")
    message = f"{what} made when more are available: {most} may be unavailable while it grows"
    return makes[:allowed], (Blocker(REASON, message),)
