"""
Amounts that users give as a number or as a percentage of a total.

Nothing here raises: a value that is neither counts as 0, and admission reports it to the user.
"""

import re
from typing import Any

_DIGITS_MAX = 9
_PERCENT = re.compile(r"([0-9]+)%")

# Definitions allow two billion of a count, and the operator lists what it plans. An object that
# asks for more pods than this is refused, so that it does not keep the operator from all others.
PODS_MAX = 1_000_000


def resolve_amount(value: Any, total: int, *, round_up: bool) -> int:
    """Resolve a number, or a percentage of the total; any other value counts as 0."""
    percent = find_percent(value)
    if percent is not None:
        return -(-percent * total // 100) if round_up else percent * total // 100
    return int(value) if isinstance(value, int) else 0


def find_percent(value: Any) -> int | None:
    """The number of a percentage, if the value is one."""
    found = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    # A number with more digits is far above a hundred percent anyway.
    return int(found[1].lstrip("0")[:_DIGITS_MAX] or "0") if found else None


def allow_progress(unavailable: int, surge: int) -> int:
    """
    How many units a rollout may take down: one, if the number is 0 and there is no surge.

    Admission refuses such a spec, but it is not asked when an autoscaler lowers the replicas and a
    percentage then rounds down to 0. Deployments have the same rule; without it the rollout would
    wait for ever.
    """
    return unavailable or (0 if surge else 1)
