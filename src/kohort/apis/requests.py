"""
Sums of the resource requests of containers, exact and as text.

Amounts are counted in billionths, so that nothing is rounded before it is added up. A sum is
written in powers of 1024 if one of its parts is. An unreadable amount is not counted: the API
server refuses pods with it, and says why.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kohort.cluster.quantities import parse_quantity, write_quantity


def find_nanos(value: Any) -> int:
    """A quantity in billionths; 0 if it cannot be read."""
    try:
        return parse_quantity(value)
    except ValueError:
        return 0


def is_binary(value: Any) -> bool:
    """Whether a quantity is written in powers of 1024."""
    return str(value).endswith("i")


def sum_requests(parts: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, str]:
    """The sum of resource lists, each multiplied by its count; sorted by name."""
    total: dict[str, int] = {}
    binary: set[str] = set()
    for count, requests in parts:
        for name, value in requests.items() if count else ():
            total[name] = total.get(name, 0) + count * find_nanos(value)
            binary.update([name] if is_binary(value) else [])
    return {
        name: write_quantity(nanos, is_binary=name in binary)
        for name, nanos in sorted(total.items())
    }
