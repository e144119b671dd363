"""Validation of label selectors."""

from kohort.apiserver.resources.validation.field_errors import forbidden, invalid, required
from kohort.apiserver.resources.validation.metadata import validate_labels
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_label_value, check_qualified
from kohort.cluster.objects import Object

_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")


def validate_selector(selector: Object | None, path: str) -> list[FieldError]:
    """The errors in a label selector; a missing one is fine."""
    if not selector:
        return []
    faults = validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, line in enumerate(selector.get("matchExpressions") or ()):
        faults += validate_requirement(line, f"{path}.matchExpressions[{index}]")
        for place, value in enumerate(line.get("values") or ()):
            where = f"{path}.matchExpressions[{index}].values[{place}]"
            faults += [invalid(where, value, why) for why in check_label_value(value)]
    return faults


def validate_requirement(line: Object, path: str, *, compares: bool = False) -> list[FieldError]:
    """The errors in one matchExpression; node selectors also have Gt and Lt."""
    faults: list[FieldError] = []
    operator, values = line.get("operator"), line.get("values") or []
    if operator in _WITH_VALUES:
        if not values:
            why = "must be specified when `operator` is 'In' or 'NotIn'"
            faults.append(required(f"{path}.values", why))
    elif operator in _WITHOUT_VALUES:
        if values:
            why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            faults.append(forbidden(f"{path}.values", why))
    elif compares and operator in ("Gt", "Lt"):
        if len(values) != 1:
            why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            faults.append(required(f"{path}.values", why))
    else:
        faults.append(invalid(f"{path}.operator", operator or "", "not a valid selector operator"))
    key = line.get("key") or ""
    return faults + [invalid(f"{path}.key", key, why) for why in check_qualified(key)]


def is_empty(selector: Object) -> bool:
    """Whether the selector selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")
