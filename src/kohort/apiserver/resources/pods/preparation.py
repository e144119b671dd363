"""The fields of a pod that the server sets: its first status, and values from admission."""

from kohort.apiserver.resources.pods.defaults import admit_pod_spec
from kohort.apiserver.resources.prepare import keep_spec, keep_status
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity

_QUALITY_RESOURCES = ("cpu", "memory")
_GATED = "Scheduling is blocked due to non-empty scheduling gates"


def prepare_pod(pod: Object) -> None:
    """Set the server's fields of a new pod: priority 0 without a class, and a Pending status."""
    spec = pod["spec"]
    admit_pod_spec(spec)
    if not spec.get("priorityClassName"):
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    status: Object = {"phase": "Pending", "qosClass": quality_of(spec)}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": pod["metadata"].get("creationTimestamp"),
                "reason": "SchedulingGated",
                "message": _GATED,
            }
        ]
    pod["status"] = status


def prepare_pod_update(pod: Object, old: Object) -> None:
    """Keep the status, and the values that admission chose at creation."""
    keep_status(pod, old)
    admit_pod_spec(pod["spec"])
    for field in ("priority", "preemptionPolicy"):
        if field in old["spec"]:
            pod["spec"].setdefault(field, old["spec"][field])


def prepare_pod_status(pod: Object, old: Object) -> None:
    """Keep the QoS class, which follows from the spec, on a status update."""
    keep_spec(pod, old)
    quality = (old.get("status") or {}).get("qosClass")
    if quality:
        pod.setdefault("status", {})["qosClass"] = quality


def quality_of(spec: Object) -> str:
    """The QoS class of a pod, from the requests and limits of its containers."""
    is_guaranteed, asks = True, False
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            resources = container.get("resources") or {}
            limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
            for name in _QUALITY_RESOURCES:
                limit, request = _amount(limits, name), _amount(requests, name)
                asks = asks or limit > 0 or request > 0
                is_guaranteed = is_guaranteed and limit > 0 and limit == request
    if not asks:
        return "BestEffort"
    return "Guaranteed" if is_guaranteed else "Burstable"


def _amount(amounts: Object, name: str) -> int:
    value = amounts.get(name)
    if value is None:
        return 0
    try:
        return parse_quantity(value)
    except ValueError:
        return 0
