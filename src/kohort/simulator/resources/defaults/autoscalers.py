"""Defaults of HorizontalPodAutoscaler: how far, by which metric, and how fast it scales."""

from kohort.cluster.objects import Object

_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}


def default_autoscaler(autoscaler: Object) -> None:
    """Fill in a HorizontalPodAutoscaler."""
    spec = autoscaler.setdefault("spec", {})
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        spec["metrics"] = [{**_CPU, "resource": {**_CPU["resource"]}}]  # type: ignore[dict-item]
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
