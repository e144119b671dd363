"""
Lists, sets and matches: the functions that expressions call on lists and strings.
"""

from datetime import timedelta
from itertools import pairwise
from typing import Any

from kohort.cluster.patterns import BadPatternError, compile_pattern


def is_sorted(values: list[Any]) -> bool:
    """Whether no entry is greater than the next."""
    return all(first <= second for first, second in pairwise(values))


def add_up(values: list[Any]) -> Any:
    """The sum; zero for an empty list."""
    start: Any = timedelta() if values and isinstance(values[0], timedelta) else 0
    return sum(values, start)


def find_least(values: list[Any]) -> Any:
    """The least entry; an empty list has none."""
    if not values:
        raise ValueError("min called on empty list")
    return min(values)


def find_greatest(values: list[Any]) -> Any:
    """The greatest entry; an empty list has none."""
    if not values:
        raise ValueError("max called on empty list")
    return max(values)


def index_of(values: list[Any], wanted: Any) -> int:
    """The first position of a value, or -1."""
    return values.index(wanted) if wanted in values else -1


def last_index_of(values: list[Any], wanted: Any) -> int:
    """The last position of a value, or -1."""
    positions = [index for index, value in enumerate(values) if value == wanted]
    return positions[-1] if positions else -1


def contains_all(values: list[Any], wanted: list[Any]) -> bool:
    """Whether one list holds every entry of another."""
    return all(value in values for value in wanted)


def are_equivalent(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists hold the same entries."""
    return contains_all(first, second) and contains_all(second, first)


def have_common(first: list[Any], second: list[Any]) -> bool:
    """Whether two lists have an entry in common."""
    return any(value in second for value in first)


def find_match(text: str, pattern: str) -> str:
    """The first match of a pattern; empty if there is none."""
    match = _compile(pattern).search(text)
    return match[0] if match else ""


def find_matches(text: str, pattern: str, limit: int = -1) -> list[str]:
    """The matches of a pattern, as many as allowed."""
    found = [match[0] for match in _compile(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _compile(pattern: str) -> Any:
    try:
        return compile_pattern(pattern)
    except BadPatternError as error:
        raise ValueError(f"Illegal regex: {error}") from error
