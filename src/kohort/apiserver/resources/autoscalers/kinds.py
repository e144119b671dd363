"""
HorizontalPodAutoscalers, as a built-in kind: rows and columns.

The kind has version 2, and version 1, which is stored as 2.
"""

from typing import Any

from kohort.apiserver.resources.autoscalers.defaults import default_autoscaler
from kohort.apiserver.resources.autoscalers.validation import (
    validate_autoscaler,
    validate_autoscaler_status,
)
from kohort.apiserver.resources.autoscalers.versions import from_storage, to_storage
from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    NONE,
    make_printer,
    shown,
    spec_of,
    status_of,
)
from kohort.cluster import kinds
from kohort.cluster.objects import Object

_UNKNOWN = "<unknown>"


def _read_reference(autoscaler: Object) -> str:
    target = spec_of(autoscaler).get("scaleTargetRef") or {}
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _read_targets(autoscaler: Object) -> str:
    metrics = spec_of(autoscaler).get("metrics") or []
    current = status_of(autoscaler).get("currentMetrics") or []
    found = [
        _show_metric(metric, current[at] if at < len(current) else None)
        for at, metric in enumerate(metrics)
    ]
    if not found:
        return NONE
    more = f" + {len(found) - 2} more..." if len(found) > 2 else ""
    return ", ".join(found[:2]) + more


def _show_metric(metric: Object, current: Object | None) -> str:
    field = metric["type"][0].lower() + metric["type"][1:]
    source = metric.get(field) or {}
    target = source.get("target") or {}
    now = ((current or {}).get(field) or {}).get("current") or {}
    name = f"{source.get('name')}: " if field in ("resource", "containerResource") else ""
    if target.get("averageUtilization") is not None:
        seen = now.get("averageUtilization")
        shown_now = _UNKNOWN if seen is None else f"{seen}%"
        return f"{name}{shown_now}/{target['averageUtilization']}%"
    if target.get("averageValue") is not None:
        average = " (avg)" if field in ("object", "external") else ""
        return f"{name}{_seen(now.get('averageValue'))}/{target['averageValue']}{average}"
    return f"{name}{_seen(now.get('value'))}/{target.get('value')}"


def _seen(value: Any) -> str:
    return _UNKNOWN if value is None else str(value)


AUTOSCALERS = make_printer(
    NAME,
    shown("Reference", _read_reference, "What is scaled."),
    shown("Targets", _read_targets, "Each metric: what it is, and what it should be."),
    shown("MinPods", lambda obj: str(spec_of(obj).get("minReplicas", _UNKNOWN))),
    shown("MaxPods", lambda obj: spec_of(obj).get("maxReplicas", 0)),
    shown("Replicas", lambda obj: status_of(obj).get("currentReplicas", 0)),
    AGE,
)


_BEHAVIOUR = reported(validate_autoscaler, default_autoscaler, validate_autoscaler_status)
KINDS = (
    BuiltinKind(
        kinds.AUTOSCALER, ("hpa",), ("all",), _BEHAVIOUR, AUTOSCALERS, subresources=("status",)
    ),
    BuiltinKind(
        kinds.AUTOSCALER_V1,
        ("hpa",),
        ("all",),
        _BEHAVIOUR,
        AUTOSCALERS,
        subresources=("status",),
        storage=kinds.AUTOSCALER.group_resource,
        to_storage=to_storage,
        from_storage=from_storage,
    ),
)
