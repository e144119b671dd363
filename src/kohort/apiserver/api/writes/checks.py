"""
Validation of an object before validating webhooks run: by its schema and its kind's rules.

The replica counts that a custom object's scale subresource reads are checked here as well.
"""

from collections.abc import Callable
from typing import Any

from kohort.apiserver.api.requests import Target
from kohort.apiserver.resources.resource import Resource
from kohort.cluster.errors import invalid
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


def checking(target: Target, obj: Object, old: Object | None) -> Callable[[], None]:
    """A function that validates an object and raises its errors."""

    def check() -> None:
        _check(target.resource, obj, old, target.subresource)

    return check


def check_kind(target: Target, obj: Object) -> None:
    """Refuse an object whose kind a webhook has changed."""
    kind = target.resource.kind
    wanted = {"kind": kind.name, "apiVersion": kind.api_version}
    wrong = [
        FieldError(FieldErrorType.INVALID, field, f"must be {value}", obj.get(field))
        for field, value in wanted.items()
        if obj.get(field) != value
    ]
    if wrong:
        raise invalid(str(obj.get("kind") or kind.name), kind.group, target.name, wrong)


def _check(resource: Resource, obj: Object, old: Object | None, subresource: str = "") -> None:
    behaviour = resource.behaviour
    is_status = subresource == "status"
    errors = (behaviour.validate_status if is_status else behaviour.validate)(obj, old)
    kind, group = resource.kind, resource.kind.group
    if resource.structural is not None:
        structural, more = resource.structural, _find_scale_errors(resource, obj, is_status)
        if is_status and old is not None:
            errors = [*errors, *structural.validate_status(obj, old, more)]
        else:
            errors = [*errors, *structural.validate(obj, old, more)]
    elif resource.storage:
        # Errors name the kind as which the object is stored.
        group = resource.storage.partition(".")[2]
    if errors:
        raise invalid(kind.name, group, obj["metadata"].get("name", ""), errors)


def _find_scale_errors(resource: Resource, obj: Object, is_status: bool) -> list[FieldError]:
    if resource.scale is None:
        return []
    paths = [resource.scale.status_replicas]
    if not is_status:
        paths.insert(0, resource.scale.spec_replicas)
    return [error for path in paths for error in find_count_errors(obj, path)]
