"""Defaults of HorizontalPodAutoscaler: bounds, metric and scaling behavior."""

from kohort.cluster.objects import Object

_PREFIX = "autoscaling.alpha.kubernetes.io/"
METRICS = f"{_PREFIX}metrics"
CURRENT_METRICS = f"{_PREFIX}current-metrics"
BEHAVIOR = f"{_PREFIX}behavior"
CONDITIONS = f"{_PREFIX}conditions"
# Annotations that hold fields in autoscaling/v1; an object of v2 has none of them.
_OF_OLDER_VERSIONS = (
    *(METRICS, CURRENT_METRICS, BEHAVIOR, CONDITIONS),
    *(f"{_PREFIX}scale-down-tolerance", f"{_PREFIX}scale-up-tolerance"),
)
_SHARE = 80


def processor_share(percent: int) -> Object:
    """The metric of CPU utilization, as a percentage of the pods' requests."""
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def drop_annotations(metadata: Object) -> None:
    """Remove the annotations that hold fields in older versions."""
    given = metadata.get("annotations")
    if not given:
        return
    kept = {name: text for name, text in given.items() if name not in _OF_OLDER_VERSIONS}
    if kept:
        metadata["annotations"] = kept
    else:
        metadata.pop("annotations")


def default_autoscaler(autoscaler: Object) -> None:
    """Set the defaults of a HorizontalPodAutoscaler."""
    drop_annotations(autoscaler.setdefault("metadata", {}))
    spec = autoscaler.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        spec["metrics"] = [processor_share(_SHARE)]
    behavior = spec.get("behavior")
    if behavior is not None:
        _default_up(behavior.setdefault("scaleUp", {}))
        _default_down(behavior.setdefault("scaleDown", {}))
    status = autoscaler.setdefault("status", {})
    status.setdefault("desiredReplicas", 0)
    status.setdefault("currentMetrics", None)


def _default_up(rules: Object) -> None:
    rules.setdefault("stabilizationWindowSeconds", 0)
    rules.setdefault("selectPolicy", "Max")
    rules.setdefault(
        "policies",
        [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    )


def _default_down(rules: Object) -> None:
    rules.setdefault("selectPolicy", "Max")
    rules.setdefault("policies", [{"type": "Percent", "value": 100, "periodSeconds": 15}])
