"""
Defaults of pods and of pod templates, of their volumes, and of the claim templates in those.

A template gets what every pod spec gets; a pod gets more: requests from its
limits, and later what the server's own admission adds (account, tolerations).
The volume with a service account token is left out, since no simulated container
could read it. This runs on every write of a pod, so it looks at each part once.
"""

from collections.abc import Callable
from typing import Any

from kohort.cluster.objects import Object

_MODE = 0o644


def default_volume(volume: Object) -> None:
    """Set the defaults of one volume of a pod; a volume without a source is an emptyDir."""
    if len(volume) == 1 and "name" in volume:
        volume["emptyDir"] = {}
        return
    for source, settings in volume.items():
        if source in _SOURCES and settings is not None:
            _SOURCES[source](settings)


def default_claim_spec(spec: Object) -> None:
    """Set the defaults of the spec of a PersistentVolumeClaim."""
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("resources", {})
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for given in (source, reference):
        if given is not None:
            given.setdefault("apiGroup", None)
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = dict(reference)


def _default_mode(settings: Object) -> None:
    settings.setdefault("defaultMode", _MODE)


def _default_host_path(settings: Object) -> None:
    settings.setdefault("type", "")


def _default_downward(settings: Object) -> None:
    _default_mode(settings)
    _default_items(settings)


def _default_items(settings: Object) -> None:
    for item in settings.get("items") or ():
        if item.get("fieldRef") is not None:
            item["fieldRef"].setdefault("apiVersion", "v1")
        reference = item.get("resourceFieldRef")
        if reference is not None:
            reference.setdefault("divisor", "0")


def _default_projected(settings: Object) -> None:
    _default_mode(settings)
    for source in settings.get("sources") or ():
        if source.get("serviceAccountToken") is not None:
            source["serviceAccountToken"].setdefault("expirationSeconds", 3600)
        if source.get("downwardAPI") is not None:
            _default_items(source["downwardAPI"])


def _default_ephemeral(settings: Object) -> None:
    template = settings.get("volumeClaimTemplate")
    if template is not None:
        template.setdefault("metadata", {})
        default_claim_spec(template.setdefault("spec", {}))


def _default_iscsi(settings: Object) -> None:
    settings.setdefault("iscsiInterface", "default")


_SOURCES: dict[str, Callable[[Object], None]] = {
    "configMap": _default_mode,
    "secret": _default_mode,
    "downwardAPI": _default_downward,
    "projected": _default_projected,
    "hostPath": _default_host_path,
    "ephemeral": _default_ephemeral,
    "iscsi": _default_iscsi,
}


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_NO_EXECUTE = ("NoExecute", "", None)


def default_template(template: Object) -> None:
    """Set the defaults of a pod template."""
    if template.get("metadata") is None:
        template["metadata"] = {}
    if template.get("spec") is None:
        template["spec"] = {}
    default_pod_spec(template["spec"])


def default_pod(pod: Object) -> None:
    """Set the defaults of a pod."""
    spec = pod.get("spec")
    if spec is None:
        spec = pod["spec"] = {}
    default_pod_spec(spec)
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            _default_requests(container["resources"])
    if spec.get("hostNetwork"):
        _default_host_ports(spec)
    _mirror_addresses(pod)


def default_pod_spec(spec: Object) -> None:
    """Set the defaults that pods and pod templates share."""
    if spec.get("restartPolicy") is None:
        spec["restartPolicy"] = "Always"
    if spec.get("dnsPolicy") is None:
        spec["dnsPolicy"] = "ClusterFirst"
    if spec.get("schedulerName") is None:
        spec["schedulerName"] = "default-scheduler"
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    _mirror_account(spec)
    for field in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(field) or ():
            default_container(container)
    for volume in spec.get("volumes") or ():
        default_volume(volume)


def default_container(container: Object) -> None:
    """Set the defaults of one container."""
    if container.get("terminationMessagePath") is None:
        container["terminationMessagePath"] = "/dev/termination-log"
    if container.get("terminationMessagePolicy") is None:
        container["terminationMessagePolicy"] = "File"
    if container.get("imagePullPolicy") is None:
        container["imagePullPolicy"] = pull_policy(container.get("image") or "")
    if container.get("resources") is None:
        container["resources"] = {}
    for port in container.get("ports") or ():
        if port.get("protocol") is None:
            port["protocol"] = "TCP"
    for variable in container.get("env") or ():
        if variable.get("valueFrom"):
            default_source(variable["valueFrom"])
    _default_handlers(container)


def default_source(source: Object) -> None:
    """Set the defaults of a reference to a field or a resource of the pod."""
    if source.get("fieldRef") is not None:
        source["fieldRef"].setdefault("apiVersion", "v1")
    reference = source.get("resourceFieldRef")
    if reference is not None:
        reference.setdefault("divisor", "0")


def pull_policy(image: str) -> str:
    """Images that name no version, or the latest one, are always pulled."""
    name, has_digest, _ = image.partition("@")
    _, has_tag, tag = name.rpartition("/")[2].partition(":")
    if has_tag:
        return "Always" if tag == "latest" else "IfNotPresent"
    return "IfNotPresent" if has_digest else "Always"


def _default_handlers(container: Object) -> None:
    for field in _PROBES:
        probe = container.get(field)
        if probe is not None:
            _default_probe(probe)
    lifecycle = container.get("lifecycle")
    if lifecycle:
        for field in ("preStop", "postStart"):
            handler = lifecycle.get(field)
            if handler and handler.get("httpGet") is not None:
                _default_request(handler["httpGet"])


def _default_probe(probe: Object) -> None:
    probe["timeoutSeconds"] = probe.get("timeoutSeconds") or 1
    probe["periodSeconds"] = probe.get("periodSeconds") or 10
    probe["successThreshold"] = probe.get("successThreshold") or 1
    probe["failureThreshold"] = probe.get("failureThreshold") or 3
    if probe.get("httpGet") is not None:
        _default_request(probe["httpGet"])
    if probe.get("grpc") is not None:
        probe["grpc"].setdefault("service", "")


def _default_request(request: Object) -> None:
    request["path"] = request.get("path") or "/"
    request["scheme"] = request.get("scheme") or "HTTP"


def _default_requests(resources: Object) -> None:
    limits = resources.get("limits")
    if limits:
        requests = resources.get("requests")
        if requests is None:
            requests = resources["requests"] = {}
        for name, value in limits.items():
            requests.setdefault(name, value)


def _default_host_ports(spec: Object) -> None:
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            for port in container.get("ports") or ():
                port["hostPort"] = port.get("hostPort") or port.get("containerPort", 0)


def _mirror_account(spec: Object) -> None:
    """Copy serviceAccountName to its older field, for clients that read that."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def admit_pod_spec(spec: Object) -> None:
    """Add the fields of built-in admission plugins, which no client owns unless it set them."""
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"] = "default"
    tolerations: list[Any] = spec.get("tolerations") or []
    for taint in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"):
        if not any(_tolerates(toleration, taint) for toleration in tolerations):
            tolerations.append(
                {
                    "key": taint,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 300,
                }
            )
            spec["tolerations"] = tolerations


def _tolerates(toleration: Object, taint: str) -> bool:
    return (toleration.get("key") or taint) == taint and toleration.get("effect") in _NO_EXECUTE


def _mirror_addresses(pod: Object) -> None:
    status = pod.get("status")
    if status and status.get("podIP") and not status.get("podIPs"):
        status["podIPs"] = [{"ip": status["podIP"]}]
    elif status and status.get("podIPs") and not status.get("podIP"):
        status["podIP"] = status["podIPs"][0].get("ip", "")
