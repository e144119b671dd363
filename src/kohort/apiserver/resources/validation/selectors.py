"""Validation of label selectors, and whether one selects some labels."""

from collections.abc import Mapping

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


def selects(selector: Object | None, labels: Mapping[str, str]) -> bool:
    """Whether the selector selects these labels; a missing one selects nothing."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_meets(line, labels) for line in selector.get("matchExpressions") or ())


def _meets(line: Object, labels: Mapping[str, str]) -> bool:
    key, values = line.get("key", ""), line.get("values") or ()
    match line.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels
