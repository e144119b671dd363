"""
Amounts of resources, as integers: CPU in thousandths, everything else in whole units.

What a pod requests is the larger of what its containers need together and what
starting it needs at the peak, plus overhead. Sidecars (init containers that
restart always) run beside the containers and beside every later init container.
Fractions round up, so that a sum of rounded requests never passes a node's limit.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

Amounts = dict[str, int]

_FACTORS: dict[str, Fraction] = {
    "": Fraction(1),
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([eE][+-]?\d+|[a-zA-Z]*)")


def read_quantity(value: str | int | float) -> Fraction:
    """The number that a quantity such as ``100m`` or ``2Ti`` stands for."""
    match = _QUANTITY.fullmatch(str(value).strip())
    if match is None:
        return Fraction(0)
    number, suffix = match.groups()
    if suffix[:1] in ("e", "E") and len(suffix) > 1 and suffix != "Ei":
        return Fraction(number) * Fraction(10) ** int(suffix[1:])
    return Fraction(number) * _FACTORS.get(suffix, Fraction(0))


def read_amount(resource: str, value: str | int | float) -> int:
    """A quantity in the unit that the scheduler counts the resource in."""
    number = read_quantity(value) * (1000 if resource == "cpu" else 1)
    return -(-number.numerator // number.denominator)


def read_amounts(raw: Mapping[str, Any] | None) -> Amounts:
    """A resource list in integers."""
    return {name: read_amount(name, value) for name, value in (raw or {}).items()}


def sum_requests(
    containers: Sequence[Amounts],
    starters: Sequence[tuple[Amounts, bool]],
    pod_level: Amounts,
    overhead: Amounts,
) -> Amounts:
    """What a pod requests; each starter says whether it is a sidecar."""
    running: Amounts = {}
    peak: Amounts = {}
    for amounts, is_sidecar in starters:
        moment = dict(running)
        _add(moment, amounts)
        _raise_to(peak, moment)
        if is_sidecar:
            _add(running, amounts)
    for amounts in containers:
        _add(running, amounts)
    _raise_to(running, peak)
    running.update(pod_level)
    _add(running, overhead)
    return running


def _add(total: Amounts, amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Amounts, floor: Amounts) -> None:
    for name, amount in floor.items():
        total[name] = max(total.get(name, 0), amount)
