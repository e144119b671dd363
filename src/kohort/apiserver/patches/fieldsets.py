"""
Sets of fields, in the form in which they are stored: FieldsV1.

A set is a tree of dictionaries. Each key is one step of a path (``f:`` a field,
``k:`` an entry of a list by its keys, ``v:`` an entry by its value, ``i:`` by
its index). A step that holds nothing is a member of the set; a step that holds
further steps is a member only if ``.`` is among them:

    {"f:spec": {"f:replicas": {}, "f:labels": {".": {}, "f:app": {}}}}

holds spec.replicas, spec.labels and spec.labels.app, but not spec.

The stored form is the working form: nothing is decoded and nothing is encoded
on the way of a write. So sets share parts with each other and with objects, and
are never changed once made. An operation that changes nothing returns its first
argument itself, which callers use to see that there is nothing to do.
"""

from collections.abc import Iterable, Iterator
from typing import Any

Fields = dict[str, Any]

LEAF: Fields = {}
SELF = "."


def make_fields(paths: Iterable[Iterable[str]]) -> Fields:
    """The set of these paths, each given as its steps."""
    result: Fields = {}
    for path in paths:
        single: Fields = LEAF
        for step in reversed(list(path)):
            single = {step: single}
        result = union(result, single)
    return result


def union(left: Fields, right: Fields) -> Fields:
    """The union of two sets."""
    if not right or left is right:
        return left
    return _join(left, right) if left else right


def difference(left: Fields, right: Fields) -> Fields:
    """The left set without the members of the right one."""
    if not left or not right:
        return left
    return _subtract(left, right) or {}


def intersection(left: Fields, right: Fields) -> Fields:
    """The members of both sets."""
    if not left or not right:
        return {}
    return _overlap(left, right) or {}


def remove_below(left: Fields, right: Fields) -> Fields:
    """The left set without members of the right one and everything below them."""
    if not left or not right:
        return left
    return _prune(left, right) or {}


def is_member(node: Fields) -> bool:
    """Whether a step that leads to this node is itself in the set."""
    return not node or SELF in node


def list_members(fields: Fields) -> Iterator[tuple[str, ...]]:
    """The paths in the set, in the order in which a real server lists them."""
    steps = sorted((step for step in fields if step != SELF), key=_rank)
    for step in steps:
        if is_member(fields[step]):
            yield (step,)
    for step in steps:
        for rest in list_members(fields[step]):
            yield (step, *rest)


def _rank(step: str) -> tuple[int, str]:
    return "fkvi".find(step[:1]), step


def find_fault(fields: Any) -> str:
    """The error in a set that a client sent; None if it is well formed."""
    if not isinstance(fields, dict):
        return "a set of fields must be an object"
    for step, node in fields.items():
        if step != SELF and (step[:1] not in {"f", "k", "v", "i"} or step[1:2] != ":"):
            return f"unknown path element {step}"
        fault = find_fault(node)
        if fault:
            return fault
    return ""


def _join(left: Fields, right: Fields) -> Fields:
    if not left:
        return left if not right else right if SELF in right else {SELF: LEAF, **right}
    result = left if SELF in left or not is_member(right) else {**left, SELF: LEAF}
    for step, node in right.items():
        if step == SELF:
            continue
        held = result.get(step)
        joined = node if held is None else held if held is node else _join(held, node)
        if joined is not held:
            if result is left:
                result = dict(left)
            result[step] = joined
    return result


def _subtract(left: Fields, right: Fields) -> Fields | None:
    if not left:
        return None if is_member(right) else left
    result = left
    if SELF in left and is_member(right):
        result = {step: node for step, node in left.items() if step != SELF}
    for step, taken in right.items():
        held = left.get(step)
        if held is None or step == SELF:
            continue
        rest = _subtract(held, taken)
        if rest is not held:
            result = _replace(result, left, step, rest)
    return _tidy(result)


def _prune(left: Fields, right: Fields) -> Fields | None:
    result = left
    for step, taken in right.items():
        held = left.get(step)
        if held is None or step == SELF:
            continue
        rest = None if is_member(taken) else _prune(held, taken) if held else held
        if rest is not held:
            result = _replace(result, left, step, rest)
    return _tidy(result) if result is not left else left


def _replace(result: Fields, original: Fields, step: str, node: Fields | None) -> Fields:
    """Put a node into the result, which is copied first if it is still the original."""
    if result is original:
        result = dict(original)
    if node is None:
        del result[step]
    else:
        result[step] = node
    return result


def _tidy(node: Fields) -> Fields | None:
    """A node after a removal: None if it is empty, a leaf if only itself is left."""
    if not node:
        return None
    return LEAF if len(node) == 1 and SELF in node else node


def _overlap(left: Fields, right: Fields) -> Fields | None:
    result: Fields = {}
    if is_member(left) and is_member(right):
        result[SELF] = LEAF
    for step, node in left.items():
        other = right.get(step)
        if other is None or step == SELF:
            continue
        common = _overlap(node, other)
        if common is not None:
            result[step] = common
    return _tidy(result)
