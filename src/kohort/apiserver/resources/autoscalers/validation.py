"""
Validation of a HorizontalPodAutoscaler: bounds, scale target, metrics and behavior.

Each metric names one source and gives that source a target of its own kind.
"""

from collections.abc import Callable
from typing import Any

from kohort.apiserver.resources.pods.amounts import validate_resource_name
from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_not_negative,
    forbidden,
    invalid,
    required,
)
from kohort.apiserver.resources.validation.metadata import (
    validate_metadata,
    validate_metadata_update,
)
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import check_label, check_path_segment
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity

_SOURCES = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_OUTSIDE = ("Object", "External")  # metrics that exist without any pod
_NO_WAY_UP = (
    "must specify at least one Object or External metric to support scaling to zero replicas"
)
_WINDOW_SECONDS_MAX = 3600
_PERIOD_SECONDS_MAX = 1800
_ABOVE_ZERO = "must be greater than zero"
_NO_RESOURCE = "must specify a resource name"
_NO_GROUP = "apiVersion must specify API group"


def validate_autoscaler(autoscaler: Object, old: Object | None) -> list[FieldError]:
    """The errors in a HorizontalPodAutoscaler."""
    spec = autoscaler.get("spec") or {}
    if old is None:
        faults = validate_metadata(autoscaler, kinds.AUTOSCALER)
    else:
        faults = validate_metadata_update(autoscaler, old)
    faults += _validate_limits(spec)
    before = None if old is None else (old.get("spec") or {}).get("scaleTargetRef") or {}
    faults += _validate_target(spec.get("scaleTargetRef") or {}, before)
    metrics = spec.get("metrics") or ()
    for index, metric in enumerate(metrics):
        faults += _validate_metric(metric, f"spec.metrics[{index}]")
    if spec.get("minReplicas") == 0 and not any(m.get("type") in _OUTSIDE for m in metrics):
        faults.append(forbidden("spec.metrics", _NO_WAY_UP))
    behavior = spec.get("behavior") or {}
    for side in ("scaleUp", "scaleDown"):
        if behavior.get(side) is not None:
            faults += _validate_rules(behavior[side], f"spec.behavior.{side}")
    return faults


def validate_autoscaler_status(autoscaler: Object, old: Object | None) -> list[FieldError]:
    """The errors in the status of a HorizontalPodAutoscaler."""
    status = autoscaler.get("status") or {}
    faults = validate_metadata_update(autoscaler, old or autoscaler)
    for field in ("currentReplicas", "desiredReplicas"):
        faults += check_not_negative(f"status.{field}", status.get(field))
    return faults


def _validate_limits(spec: Object) -> list[FieldError]:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    faults: list[FieldError] = []
    if least is not None and least < 1:
        faults.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most == 0:
        faults.append(required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        faults.append(invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if least is not None and most < least:
        why = "must be greater than or equal to `minReplicas`"
        faults.append(invalid("spec.maxReplicas", most, why))
    return faults


def _validate_target(target: Object, before: Object | None) -> list[FieldError]:
    path = "spec.scaleTargetRef"
    faults = _validate_names(target, path)
    if before is not None and all(
        target.get(field) == before.get(field) for field in ("apiVersion", "kind")
    ):
        return faults
    may_be_core = target.get("kind") == kinds.REPLICATION_CONTROLLER.name
    return faults + _validate_version(target, path, may_be_core=may_be_core)


def _validate_names(reference: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for field in ("kind", "name"):
        faults += _validate_segment(reference.get(field), f"{path}.{field}")
    return faults


def _validate_segment(name: Any, path: str, missing: str = "") -> list[FieldError]:
    if not name:
        return [required(path, missing)]
    return [invalid(path, name, why) for why in check_path_segment(name)]


def _validate_version(reference: Object, path: str, *, may_be_core: bool) -> list[FieldError]:
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1:
        why = f"unexpected GroupVersion string: {version}"
    elif not may_be_core and not version.partition("/")[1]:
        why = _NO_GROUP
    else:
        return []
    return [invalid(f"{path}.apiVersion", version, why)]


def _validate_metric(metric: Object, path: str) -> list[FieldError]:
    kind = metric.get("type") or ""
    faults: list[FieldError] = []
    if not kind:
        faults.append(required(f"{path}.type", "must specify a metric source type"))
    faults += check_choice(f"{path}.type", kind, tuple(_SOURCES))
    present = [source for source in _CHECKS if metric.get(source) is not None]
    if present:
        faults += _CHECKS[present[0]](metric[present[0]], f"{path}.{present[0]}")
    expected = _SOURCES.get(kind)
    if expected is None:
        faults += check_choice(f"{path}.type", kind, tuple(_SOURCES))
    elif expected not in present:
        why = "must populate information for the given metric source"
        faults.append(required(f"{path}.{expected}", why))
    if len(present) != 1:
        for source in present:
            if source != expected:
                why = "must populate the given metric source only"
                faults.append(forbidden(f"{path}.{source}", why))
    return faults


def _validate_object(source: Object, path: str) -> list[FieldError]:
    described = source.get("describedObject") or {}
    faults = _validate_names(described, f"{path}.describedObject")
    faults += _validate_version(described, f"{path}.describedObject", may_be_core=True)
    faults += _validate_identifier(source, path)
    target = source.get("target") or {}
    faults += _validate_goal(target, f"{path}.target")
    if target.get("value") is None and target.get("averageValue") is None:
        why = "must set either a target value or averageValue"
        faults.append(required(f"{path}.target.averageValue", why))
    return faults


def _validate_external(source: Object, path: str) -> list[FieldError]:
    target = source.get("target") or {}
    faults = _validate_identifier(source, path) + _validate_goal(target, f"{path}.target")
    choices = ("value", "averageValue")
    words = ("a target value for metric", "a per-pod target")
    return faults + _check_one_goal(target, f"{path}.target", choices, words)


def _validate_pods(source: Object, path: str) -> list[FieldError]:
    target = source.get("target") or {}
    faults = _validate_identifier(source, path) + _validate_goal(target, f"{path}.target")
    if target.get("averageValue") is None:
        why = "must specify a positive target averageValue"
        faults.append(required(f"{path}.target.averageValue", why))
    return faults


def _validate_container(source: Object, path: str) -> list[FieldError]:
    name, container = source.get("name"), source.get("container")
    faults: list[FieldError] = []
    if name:
        faults += validate_resource_name(name, f"{path}.name")
    else:
        faults.append(required(f"{path}.name", _NO_RESOURCE))
    if container:
        faults += [invalid(f"{path}.container", container, w) for w in check_label(container)]
    else:
        faults.append(required(f"{path}.container", "must specify a container"))
    return faults + _validate_amounts(source, path)


def _validate_resource(source: Object, path: str) -> list[FieldError]:
    faults = [] if source.get("name") else [required(f"{path}.name", _NO_RESOURCE)]
    return faults + _validate_amounts(source, path)


def _validate_amounts(source: Object, path: str) -> list[FieldError]:
    target = source.get("target") or {}
    faults = _validate_goal(target, f"{path}.target")
    choices = ("averageValue", "averageUtilization")
    words = ("a target raw value", "a target utilization")
    return faults + _check_one_goal(target, f"{path}.target", choices, words)


def _check_one_goal(
    target: Object, path: str, choices: tuple[str, str], words: tuple[str, str]
) -> list[FieldError]:
    """Exactly one of two fields must be set; ``words`` name them to the user."""
    first, second = choices
    present = sum(target.get(field) is not None for field in choices)
    if present == 0:
        return [required(f"{path}.{second}", f"must set either {words[0]} or {words[1]}")]
    if present == 2:
        return [forbidden(f"{path}.{first}", f"may not set both {words[0]} and {words[1]}")]
    return []


def _validate_identifier(source: Object, path: str) -> list[FieldError]:
    name = (source.get("metric") or {}).get("name")
    return _validate_segment(name, f"{path}.metric.name", "must specify a metric name")


def _validate_goal(target: Object, path: str) -> list[FieldError]:
    kind = target.get("type") or ""
    faults = [] if kind else [required(f"{path}.type", "must specify a metric target type")]
    if kind not in ("Utilization", "Value", "AverageValue"):
        why = "must be either Utilization, Value, or AverageValue"
        faults.append(invalid(f"{path}.type", kind, why))
    for field in ("value", "averageValue"):
        amount = target.get(field)
        if amount is not None and parse_quantity(amount) <= 0:
            faults.append(invalid(f"{path}.{field}", amount, "must be positive"))
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        faults.append(invalid(f"{path}.averageUtilization", share, "must be greater than 0"))
    return faults


def _validate_rules(rules: Object, path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    window = rules.get("stabilizationWindowSeconds")
    where = f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        faults.append(invalid(where, window, "must be greater than or equal to zero"))
    if window is not None and window > _WINDOW_SECONDS_MAX:
        why = f"must be less than or equal to {_WINDOW_SECONDS_MAX}"
        faults.append(invalid(where, window, why))
    if rules.get("selectPolicy") is not None:
        choices = ("Disabled", "Max", "Min")
        faults += check_choice(f"{path}.selectPolicy", rules["selectPolicy"], choices)
    if not rules.get("policies"):
        faults.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(rules.get("policies") or ()):
        faults += _validate_policy(policy, f"{path}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and parse_quantity(tolerance) < 0:
        why = "must be greater than or equal to 0"
        faults.append(invalid(f"{path}.tolerance", tolerance, why))
    return faults


def _validate_policy(policy: Object, path: str) -> list[FieldError]:
    faults = check_choice(f"{path}.type", policy.get("type") or "", ("Percent", "Pods"))
    for field in ("value", "periodSeconds"):
        if (policy.get(field) or 0) <= 0:
            faults.append(invalid(f"{path}.{field}", policy.get(field) or 0, _ABOVE_ZERO))
    if (policy.get("periodSeconds") or 0) > _PERIOD_SECONDS_MAX:
        why = f"must be less than or equal to {_PERIOD_SECONDS_MAX}"
        faults.append(invalid(f"{path}.periodSeconds", policy["periodSeconds"], why))
    return faults


# In the order in which sources are looked for: of several, the first is checked.
_CHECKS: dict[str, Callable[[Object, str], list[FieldError]]] = {
    "object": _validate_object,
    "external": _validate_external,
    "pods": _validate_pods,
    "resource": _validate_resource,
    "containerResource": _validate_container,
}
