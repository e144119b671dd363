"""Amounts that are a number or a share of a total, as in ``maxUnavailable: 25%``."""

from typing import Any


def resolve(amount: Any, total: int, *, round_up: bool) -> int:
    """The number of an int-or-percent of a total; 0 if it is missing."""
    if amount is None:
        return 0
    if isinstance(amount, str):
        share = int(amount.removesuffix("%")) * total
        return -(-share // 100) if round_up else share // 100
    return int(amount)
