"""
HorizontalPodAutoscalers in their older version, autoscaling/v1.

All versions are stored as v2. Where v1 has no field, it has annotations with JSON in the form
of older releases: for metrics other than CPU utilization, for behavior, and for the metrics and
conditions of the status. An annotation that cannot be read counts as absent, and an object in v2
has none of them.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson

from kohort.apiserver.resources.autoscalers.defaults import (
    BEHAVIOR,
    CONDITIONS,
    CURRENT_METRICS,
    METRICS,
    drop_annotations,
    processor_share,
)
from kohort.apiserver.schemas import strict
from kohort.apiserver.schemas.builtin import load_shape
from kohort.cluster.kinds import AUTOSCALER
from kohort.cluster.objects import Object, encode_json
from kohort.cluster.quantities import parse_quantity

_Path = tuple[str, ...]
_Told = TypeVar("_Told", Object, list[Object])
_ZERO = "0"
_NAMED: tuple[tuple[str, _Path], ...] = (("metricName", ("metric", "name")),)
_RESOURCE: tuple[tuple[str, _Path], ...] = (
    ("name", ("name",)),
    ("targetAverageUtilization", ("target", "averageUtilization")),
    ("targetAverageValue", ("target", "averageValue")),
)
_RESOURCE_STATUS: tuple[tuple[str, _Path], ...] = (
    ("name", ("name",)),
    ("currentAverageUtilization", ("current", "averageUtilization")),
    ("currentAverageValue", ("current", "averageValue")),
)
_CONTAINER: tuple[tuple[str, _Path], ...] = (("container", ("container",)),)
# Fields of v1 in the order in which they are written, and where v2 has them.
_SOURCES: Mapping[str, tuple[tuple[str, _Path], ...]] = {
    "object": (
        ("target", ("describedObject",)),
        *_NAMED,
        ("targetValue", ("target", "value")),
        ("selector", ("metric", "selector")),
        ("averageValue", ("target", "averageValue")),
    ),
    "pods": (
        *_NAMED,
        ("targetAverageValue", ("target", "averageValue")),
        ("selector", ("metric", "selector")),
    ),
    "resource": _RESOURCE,
    "containerResource": (*_RESOURCE, *_CONTAINER),
    "external": (
        *_NAMED,
        ("metricSelector", ("metric", "selector")),
        ("targetValue", ("target", "value")),
        ("targetAverageValue", ("target", "averageValue")),
    ),
}
_STATUSES: Mapping[str, tuple[tuple[str, _Path], ...]] = {
    "object": (
        ("target", ("describedObject",)),
        *_NAMED,
        ("currentValue", ("current", "value")),
        ("selector", ("metric", "selector")),
        ("averageValue", ("current", "averageValue")),
    ),
    "pods": (
        *_NAMED,
        ("currentAverageValue", ("current", "averageValue")),
        ("selector", ("metric", "selector")),
    ),
    "resource": _RESOURCE_STATUS,
    "containerResource": (*_RESOURCE_STATUS, *_CONTAINER),
    "external": (
        *_NAMED,
        ("metricSelector", ("metric", "selector")),
        ("currentValue", ("current", "value")),
        ("currentAverageValue", ("current", "averageValue")),
    ),
}
# Amounts that v1 always writes.
_ALWAYS = {
    *(("object", "targetValue"), ("object", "currentValue"), ("external", "currentValue")),
    *(("pods", "targetAverageValue"), ("pods", "currentAverageValue")),
    *(("resource", "currentAverageValue"), ("containerResource", "currentAverageValue")),
}
_RULES = ("StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance")
_POLICY = ("Type", "Value", "PeriodSeconds")
_KEPT_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
_CONDITION = ("type", "status", "lastTransitionTime", "reason", "message")


def to_storage(autoscaler: Object) -> Object:
    """An autoscaler of v1 in the storage version."""
    metadata = dict(autoscaler.get("metadata") or {})
    notes = metadata.get("annotations") or {}
    given, status = autoscaler.get("spec") or {}, autoscaler.get("status") or {}
    spec = {k: v for k, v in given.items() if k != "targetCPUUtilizationPercentage"}
    told = [_from_old(metric, _SOURCES) for metric in _read_list(notes.get(METRICS))]
    metrics = _fit("spec", "metrics", told)
    if (share := given.get("targetCPUUtilizationPercentage")) is not None:
        metrics.append(processor_share(share))
    spec["metrics"] = metrics
    if behavior := _fit("spec", "behavior", _read_behavior(notes.get(BEHAVIOR))):
        spec["behavior"] = behavior
    stored = {field: status[field] for field in _KEPT_STATUS if field in status}
    stored["currentMetrics"] = _read_current(status, notes.get(CURRENT_METRICS)) or None
    if conditions := _fit("status", "conditions", _read_list(notes.get(CONDITIONS))):
        stored["conditions"] = conditions
    drop_annotations(metadata)
    head = {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2"}
    return {**head, "metadata": metadata, "spec": spec, "status": stored}


def from_storage(autoscaler: Object) -> Object:
    """A stored autoscaler as v1 shows it."""
    metadata = dict(autoscaler.get("metadata") or {})
    spec, status = dict(autoscaler.get("spec") or {}), autoscaler.get("status") or {}
    metrics, behavior = spec.pop("metrics", None) or [], spec.pop("behavior", None)
    shares = [metric for metric in metrics if _is_share(metric)]
    current = status.get("currentMetrics") or []
    notes = {
        METRICS: [_to_old(m, _SOURCES) for m in metrics if not _is_share(m)],
        CURRENT_METRICS: [_to_old(metric, _STATUSES) for metric in current],
        BEHAVIOR: _write_behavior(behavior) if behavior is not None else None,
        CONDITIONS: [_order_condition(found) for found in status.get("conditions") or ()],
    }
    drop_annotations(metadata)
    texts = {name: encode_json(value).decode() for name, value in notes.items() if value}
    if texts:
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **texts}
    if shares:
        spec["targetCPUUtilizationPercentage"] = _share_of(shares[0], "target")
    shown: Object = {"currentReplicas": 0, "desiredReplicas": 0}
    shown |= {field: status[field] for field in _KEPT_STATUS if field in status}
    used = [_share_of(m, "current") for m in current if _is_of_processor(m)]
    if (found := next((share for share in reversed(used) if share is not None), None)) is not None:
        shown["currentCPUUtilizationPercentage"] = found
    head = {"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v1"}
    return {**head, "metadata": metadata, "spec": spec, "status": shown}


def _is_of_processor(metric: Object) -> bool:
    resource = metric.get("resource") or {}
    return metric.get("type") == "Resource" and resource.get("name") == "cpu"


def _is_share(metric: Object) -> bool:
    return _is_of_processor(metric) and _share_of(metric, "target") is not None


def _share_of(metric: Object, field: str) -> Any:
    return (metric["resource"].get(field) or {}).get("averageUtilization")


def _to_old(metric: Object, table: Mapping[str, tuple[tuple[str, _Path], ...]]) -> Object:
    """A metric, or the status of one, in the form of v1."""
    old: Object = {"type": metric.get("type", "")}
    for source, fields in table.items():
        if metric.get(source) is None:
            continue
        old[source] = {}
        for field, path in fields:
            value = _at(metric[source], path)
            if value is None and (source, field) in _ALWAYS:
                value = _ZERO
            if value is not None:
                old[source][field] = value
    return old


def _from_old(metric: Object, table: Mapping[str, tuple[tuple[str, _Path], ...]]) -> Object:
    """A metric of v1 in the form of v2; the target type follows from the field that is set."""
    new: Object = {"type": metric.get("type", "")}
    for source, fields in table.items():
        given = metric.get(source)
        if not isinstance(given, dict):
            continue
        found: Object = {}
        for field, path in fields:
            if given.get(field) is not None:
                _put(found, path, given[field])
        if table is _SOURCES:
            _complete_target(source, found.setdefault("target", {}))
        new[source] = found
    return new


def _complete_target(source: str, target: Object) -> None:
    if source == "object" and "averageValue" in target and _is_zero(target.get("value")):
        target.pop("value", None)
    if "averageUtilization" in target:
        target["type"] = "Utilization"
    elif source == "pods" or "averageValue" in target or source.lower().endswith("resource"):
        target["type"] = "AverageValue"
    else:
        target["type"] = "Value"
    if source == "external":
        target["type"] = "Value" if "value" in target else "AverageValue"


def _is_zero(amount: Any) -> bool:
    try:
        return amount is not None and parse_quantity(amount) == 0
    except ValueError:
        return False


def _at(value: Any, path: _Path) -> Any:
    for step in path:
        value = (value or {}).get(step)
    return value


def _put(value: Object, path: _Path, found: Any) -> None:
    for step in path[:-1]:
        value = value.setdefault(step, {})
    value[path[-1]] = found


def _read(text: str | None) -> Any:
    try:
        return orjson.loads(text) if text else None
    except orjson.JSONDecodeError:
        return None


def _fit(part: str, field: str, value: _Told) -> _Told:
    """The value in an annotation, if it fits the types of the storage version."""
    if not value:
        return value
    shape = load_shape(AUTOSCALER.api_version, AUTOSCALER.name)
    try:
        read = strict.read_object({part: {field: value}}, shape)[0]
    except strict.Unreadable:
        return type(value)()
    found: _Told = read[part][field]
    return found


def _read_list(text: str | None) -> list[Object]:
    found = _read(text)
    is_list = isinstance(found, list) and all(isinstance(item, dict) for item in found)
    return found if is_list else []


def _read_current(status: Object, text: str | None) -> list[Object]:
    """The current metrics: from the annotation, which holds more, or else from the field."""
    told = [_from_old(metric, _STATUSES) for metric in _read_list(text)]
    if current := _fit("status", "currentMetrics", told):
        return current
    share = status.get("currentCPUUtilizationPercentage")
    if share is None:
        return []
    resource = {"name": "cpu", "current": {"averageUtilization": share}}
    return [{"type": "Resource", "resource": resource}]


def _write_behavior(behavior: Object) -> Object:
    """Behavior with the names that its Go type has: a release once wrote it so."""
    sides = (("ScaleUp", behavior.get("scaleUp")), ("ScaleDown", behavior.get("scaleDown")))
    return {name: None if rules is None else _write_rules(rules) for name, rules in sides}


def _write_rules(rules: Object) -> Object:
    found: Object = {name: rules.get(_lower(name)) for name in _RULES}
    if found["Policies"] is not None:
        found["Policies"] = [
            {name: policy.get(_lower(name)) for name in _POLICY} for policy in found["Policies"]
        ]
    return found


def _read_behavior(text: str | None) -> Object:
    found = _read(text)
    behavior = _pick(found, ("ScaleUp", "ScaleDown"))
    rules = {side: _pick(value, _RULES) for side, value in behavior.items()}
    for side in rules.values():
        if isinstance(side.get("policies"), list):
            side["policies"] = [_pick(policy, _POLICY) for policy in side["policies"]]
    return rules


def _pick(value: Any, names: tuple[str, ...]) -> Object:
    """The fields with these names in whatever case, named as v2 names them."""
    if not isinstance(value, dict):
        return {}
    found = {key.lower(): item for key, item in value.items() if item is not None}
    return {_lower(name): found[name.lower()] for name in names if name.lower() in found}


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _order_condition(condition: Object) -> Object:
    return {field: condition[field] for field in _CONDITION if field in condition}
