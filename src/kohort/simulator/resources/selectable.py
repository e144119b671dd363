"""
What field selectors may ask of an object, besides its name and namespace.

Every value is a string, and a missing one is the empty string, since that is
what selectors compare. Pods are asked on every list and watch.
"""

from collections.abc import Mapping

from kohort.cluster.objects import Object


def pod_fields(pod: Object) -> Mapping[str, str]:
    """The selectable fields of a pod."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return {
        "spec.nodeName": spec.get("nodeName") or "",
        "spec.restartPolicy": spec.get("restartPolicy") or "",
        "spec.schedulerName": spec.get("schedulerName") or "",
        "spec.serviceAccountName": spec.get("serviceAccountName") or "",
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": status.get("phase") or "",
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


def secret_fields(secret: Object) -> Mapping[str, str]:
    """The selectable fields of a secret."""
    return {"type": secret.get("type") or ""}


def event_fields(event: Object) -> Mapping[str, str]:
    """The selectable fields of an event of the core group."""
    reporter = event.get("reportingComponent") or ""
    return {
        **_reference_fields("involvedObject", event.get("involvedObject") or {}),
        "reason": event.get("reason") or "",
        "reportingComponent": reporter,
        "source": (event.get("source") or {}).get("component") or reporter,
        "type": event.get("type") or "",
    }


def new_event_fields(event: Object) -> Mapping[str, str]:
    """The selectable fields of an event of the newer group."""
    return {
        **_reference_fields("regarding", event.get("regarding") or {}),
        "reason": event.get("reason") or "",
        "reportingController": event.get("reportingController") or "",
        "type": event.get("type") or "",
    }


def _reference_fields(prefix: str, reference: Object) -> dict[str, str]:
    names = ("apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid")
    return {f"{prefix}.{name}": reference.get(name) or "" for name in names}
