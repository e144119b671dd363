"""Validation of a container's resources: requests and limits."""

from typing import Any

from kohort.apiserver.resources.validation.field_errors import NOT_NEGATIVE, invalid, required
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_qualified
from kohort.cluster.objects import Object
from kohort.cluster.quantities import NANOS, parse_quantity

_STANDARD = ("cpu", "memory", "ephemeral-storage", "storage")
_OVERCOMMITTED = ("cpu", "memory", "ephemeral-storage")
BAD_QUANTITY = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def validate_resources(resources: Object, path: str) -> list[FieldError]:
    """The errors in the requests and limits of a container."""
    faults: list[FieldError] = []
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, value in limits.items():
        faults += _validate_amount(name, value, f"{path}.limits[{name}]")
    for name, value in requests.items():
        faults += _validate_amount(name, value, f"{path}.requests[{name}]")
        faults += _validate_request(name, value, limits.get(name), path)
    return faults


def _validate_amount(name: str, value: Any, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    if name not in _OVERCOMMITTED:
        faults += validate_resource_name(name, path)
    try:
        amount = parse_quantity(value)
    except ValueError:
        return [*faults, invalid(path, value, BAD_QUANTITY)]
    if amount < 0:
        faults.append(invalid(path, value, NOT_NEGATIVE))
    if "/" in name and not _is_native(name) and amount % NANOS:
        faults.append(invalid(path, value, "must be an integer"))
    return faults


def validate_resource_name(name: str, path: str) -> list[FieldError]:
    """The errors in the name of a resource, such as ``cpu`` or ``nvidia.com/gpu``."""
    complaints = check_qualified(name)
    faults = [invalid(path, name, why) for why in complaints]
    if "/" not in name and not _is_standard(name):
        if not complaints:
            why = "must be a standard resource type or fully qualified"
            faults.append(invalid(path, name, why))
        faults.append(invalid(path, name, "must be a standard resource for containers"))
    return faults


def _validate_request(name: str, value: Any, limit: Any, path: str) -> list[FieldError]:
    if name in _OVERCOMMITTED or (_is_native(name) and not name.startswith("hugepages-")):
        if limit is not None and _exceeds(value, limit):
            why = f"must be less than or equal to {name} limit of {limit}"
            return [invalid(f"{path}.requests", value, why)]
        return []
    if limit is None:
        why = "Limit must be set for non overcommitable resources"
        return [required(f"{path}.limits", why)]
    if value != limit and (_exceeds(value, limit) or _exceeds(limit, value)):
        why = f"must be equal to {name} limit of {limit}"
        return [invalid(f"{path}.requests", value, why)]
    return []


def _exceeds(one: Any, other: Any) -> bool:
    try:
        return parse_quantity(one) > parse_quantity(other)
    except ValueError:
        return False


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith("hugepages-")


def _is_native(name: str) -> bool:
    return "/" not in name or name.partition("/")[0].endswith("kubernetes.io")
