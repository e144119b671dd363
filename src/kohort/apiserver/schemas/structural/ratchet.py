"""
Ratcheting: an update is not refused for errors in fields that it did not change.

A problem is dropped when the value that has it, or anything that holds that
value, equals what stood there before. Values correspond by the names of fields,
the keys of maps and the keys of keyed lists; entries of other lists correspond
to nothing. The names of kind and version are never ratcheted.
"""

from typing import Any

from kohort.apiserver.schemas.cel.rules import find_entry
from kohort.apiserver.schemas.structural.checks.problems import Problem, Segment
from kohort.apiserver.schemas.structural.node import Node
from kohort.cluster.fields import FieldErrorType

_TYPE_FIELDS = ("apiVersion", "kind")


def drop_unchanged(problems: list[Problem], value: Any, old: Any, node: Node) -> list[Problem]:
    """The problems in fields that this update changed."""
    return [
        problem
        for problem in problems
        if problem.is_late
        or not _is_unchanged(problem.segments[problem.sheltered :], value, old, node)
    ]


def drop_duplicates(problems: list[Problem]) -> list[Problem]:
    """The problems without those of duplicates, for an object that already had some."""
    return [problem for problem in problems if not is_duplicate(problem)]


def is_duplicate(problem: Problem) -> bool:
    """Whether the problem is a duplicate in a list of type set or map."""
    return problem.is_late and problem.fault is not FieldErrorType.REQUIRED


def _is_unchanged(segments: list[Segment], value: Any, old: Any, node: Node) -> bool:
    if value == old:
        return True
    place: Node | None = node
    for depth, segment in enumerate(reversed(segments)):
        if place is None or (depth == 0 and segment in _TYPE_FIELDS):
            return False
        step = _step(place, segment, value, old)
        if step is None:
            return False
        value, old, place = step
        if value == old:
            return True
    return False


def _step(
    node: Node, segment: Segment, value: Any, old: Any
) -> tuple[Any, Any, Node | None] | None:
    if isinstance(segment, int):
        keys = node.list_keys if node.list_type == "map" else None
        previous = find_entry(keys, value[segment], old)
        return None if previous is None else (value[segment], previous, node.find_items())
    if type(old) is not dict or segment not in old:
        return None
    return value[segment], old[segment], node.find(segment)
