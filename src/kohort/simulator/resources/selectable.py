"""
What field selectors may ask of an object, besides its name and namespace.

Every value is a string, and a missing one is the empty string, since that is
what selectors compare. Pods are asked on every list and watch.
"""

from collections.abc import Mapping
from sys import intern

from kohort.cluster.objects import Object

# What can be asked of the object that an event is about.
REFERENCE_FIELDS = (
    "apiVersion",
    "fieldPath",
    "kind",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
)


def pod_fields(pod: Object) -> Mapping[str, str]:
    """The selectable fields of a pod."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return {
        "spec.nodeName": intern(spec.get("nodeName") or ""),
        "spec.restartPolicy": intern(spec.get("restartPolicy") or ""),
        "spec.schedulerName": intern(spec.get("schedulerName") or ""),
        "spec.serviceAccountName": intern(spec.get("serviceAccountName") or ""),
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": intern(status.get("phase") or ""),
        "status.podIP": status.get("podIP") or "",
        "status.nominatedNodeName": status.get("nominatedNodeName") or "",
    }


def node_fields(node: Object) -> Mapping[str, str]:
    """The selectable fields of a node."""
    spec = node.get("spec") or {}
    return {"spec.unschedulable": "true" if spec.get("unschedulable") else "false"}


def namespace_fields(namespace: Object) -> Mapping[str, str]:
    """The selectable fields of a namespace."""
    return {"status.phase": (namespace.get("status") or {}).get("phase") or ""}


def service_fields(service: Object) -> Mapping[str, str]:
    """The selectable fields of a service."""
    spec = service.get("spec") or {}
    return {"spec.clusterIP": spec.get("clusterIP") or "", "spec.type": spec.get("type") or ""}


def job_fields(job: Object) -> Mapping[str, str]:
    """The selectable fields of a Job."""
    return {"status.successful": str((job.get("status") or {}).get("succeeded") or 0)}


def replication_controller_fields(controller: Object) -> Mapping[str, str]:
    """The selectable fields of a ReplicationController."""
    return {"status.replicas": str((controller.get("status") or {}).get("replicas") or 0)}


def secret_fields(secret: Object) -> Mapping[str, str]:
    """The selectable fields of a secret."""
    return {"type": secret.get("type") or ""}


def event_fields(event: Object) -> Mapping[str, str]:
    """The selectable fields of an event by the names of both groups, whichever it came through."""
    about = event.get("involvedObject") or event.get("regarding") or {}
    reporter = intern(event.get("reportingComponent") or event.get("reportingController") or "")
    return {
        **_reference_fields("involvedObject", about),
        **_reference_fields("regarding", about),
        "reason": intern(event.get("reason") or ""),
        "reportingComponent": reporter,
        "reportingController": reporter,
        "source": intern((event.get("source") or {}).get("component") or reporter),
        "type": intern(event.get("type") or ""),
    }


def _reference_fields(prefix: str, reference: Object) -> dict[str, str]:
    # Six events for each pod say mostly the same, so equal texts are kept once.
    return {field: intern(reference.get(name) or "") for field, name in _REFERENCE[prefix]}


_REFERENCE = {
    prefix: tuple((f"{prefix}.{name}", name) for name in REFERENCE_FIELDS)
    for prefix in ("involvedObject", "regarding")
}
