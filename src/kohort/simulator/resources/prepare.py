"""
What clients may not set: the server's part of an object when it is made or changed.

A create starts with a fresh status, an update of the object keeps the status it
had, and an update of the status keeps everything but the status and metadata.
"""

from collections.abc import Callable

from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity
from kohort.simulator.resources.defaults.network import complete_service, keep_allocated
from kohort.simulator.resources.defaults.pods import admit_pod_spec

_QUALITY_RESOURCES = ("cpu", "memory")
_GATED = "Scheduling is blocked due to non-empty scheduling gates"


def start_status(default: Callable[[Object], None]) -> Callable[[Object], None]:
    """A new object has the status that it has by default, whatever was sent."""

    def prepare(obj: Object) -> None:
        obj.pop("status", None)
        default(obj)

    return prepare


def keep_status(obj: Object, old: Object) -> None:
    """An update of the object leaves its status alone."""
    if "status" in old:
        obj["status"] = old["status"]
    else:
        obj.pop("status", None)


def keep_spec(obj: Object, old: Object) -> None:
    """An update of the status leaves the spec and the owners alone."""
    if "spec" in old:
        obj["spec"] = old["spec"]
    else:
        obj.pop("spec", None)
    owners = old["metadata"].get("ownerReferences")
    if owners:
        obj["metadata"]["ownerReferences"] = owners
    else:
        obj["metadata"].pop("ownerReferences", None)


def keep_spec_and_labels(obj: Object, old: Object) -> None:
    """As for other kinds, and the labels stay too."""
    keep_spec(obj, old)
    if "labels" in old["metadata"]:
        obj["metadata"]["labels"] = old["metadata"]["labels"]
    else:
        obj["metadata"].pop("labels", None)


def prepare_pod(pod: Object) -> None:
    """A new pod is pending. Its priority is that of its class, which the server looks up."""
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
    """Status and what admission once chose stay as they are."""
    keep_status(pod, old)
    admit_pod_spec(pod["spec"])
    for field in ("priority", "preemptionPolicy"):
        if field in old["spec"]:
            pod["spec"].setdefault(field, old["spec"][field])


def prepare_pod_status(pod: Object, old: Object) -> None:
    """The quality of service follows from the spec, so a status update cannot change it."""
    keep_spec(pod, old)
    quality = (old.get("status") or {}).get("qosClass")
    if quality:
        pod.setdefault("status", {})["qosClass"] = quality


def quality_of(spec: Object) -> str:
    """The quality of service class: how much of what it may use a pod has asked for."""
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


def prepare_namespace(namespace: Object) -> None:
    """A new namespace is active and waits, when it goes, for its contents."""
    namespace["spec"] = {"finalizers": ["kubernetes"]}
    namespace["status"] = {"phase": "Active"}


def prepare_namespace_update(namespace: Object, old: Object) -> None:
    """Finalizers of the spec have a subresource of their own."""
    namespace["spec"] = old.get("spec", {})
    keep_status(namespace, old)


def prepare_service(service: Object) -> None:
    """A new service has not balanced anything, and gets a family of addresses."""
    service["status"] = {"loadBalancer": {}}
    complete_service(service)


def prepare_service_update(service: Object, old: Object) -> None:
    """Status and allocated addresses stay."""
    keep_status(service, old)
    keep_allocated(service, old)
    complete_service(service)


def prepare_persistent_volume(volume: Object) -> None:
    """A new volume is pending since it was made."""
    status = {"phase": "Pending"}
    if volume["metadata"].get("creationTimestamp"):
        status["lastPhaseTransitionTime"] = volume["metadata"]["creationTimestamp"]
    volume["status"] = status


def prepare_definition(definition: Object) -> None:
    """A new definition is not served yet; the server says so when it has looked at it."""
    versions: list[Object] = (definition.get("spec") or {}).get("versions") or []
    definition["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": [v["name"] for v in versions if v.get("storage") and v.get("name")],
    }


def prepare_deployment_update(deployment: Object, old: Object) -> None:
    """Notes about a rollout are part of what is asked for, so they count as a new generation."""
    keep_status(deployment, old)
    _count_change(deployment, old, "annotations")


def prepare_slice_update(endpoint_slice: Object, old: Object) -> None:
    """Labels say whose endpoints these are, so they count as a new generation."""
    _count_change(endpoint_slice, old, "labels")


def _count_change(obj: Object, old: Object, field: str) -> None:
    metadata, before = obj["metadata"], old["metadata"]
    if (metadata.get(field) or {}) != (before.get(field) or {}):
        metadata["generation"] = before.get("generation", 0) + 1


def prepare_priority_class(priority_class: Object) -> None:
    """What matters in a class never changes, so its first generation is its last."""
    priority_class["metadata"]["generation"] = 1
