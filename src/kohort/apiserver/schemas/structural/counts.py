"""Validation of the replica counts that a custom object's scale subresource reads."""

from typing import Any

from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object

_COUNT_MAX = 2**31 - 1
_NAMES = {str: "string", bool: "bool", float: "float64", list: "[]interface {}"}


def find_count_errors(obj: Object, path: tuple[str, ...]) -> list[FieldError]:
    """The errors in the number at a path; a missing number is allowed."""
    where = "." + ".".join(path)
    value: Any = obj
    for step in path:
        if value is None:
            return []
        if not isinstance(value, dict):
            return [_unreadable(where, value, "map[string]interface{}")]
        value = value.get(step)
    if value is None:
        return []
    if isinstance(value, bool) or not isinstance(value, int):
        return [_unreadable(where, value, "int64")]
    return _find_size_errors(value, where)


def _find_size_errors(value: int, where: str) -> list[FieldError]:
    if value < 0:
        return [_invalid(where, value, "should be a non-negative integer")]
    if value > _COUNT_MAX:
        return [_invalid(where, value, f"should be less than or equal to {_COUNT_MAX}")]
    return []


def _unreadable(where: str, value: Any, expected: str) -> FieldError:
    kind = _NAMES.get(type(value), "map[string]interface {}")
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    detail = f"{where} accessor error: {shown} is of the type {kind}, expected {expected}"
    return _invalid(where, 0, detail)


def _invalid(where: str, value: int, detail: str) -> FieldError:
    return FieldError(FieldErrorType.INVALID, where, detail, value)
