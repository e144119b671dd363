"""Pods, as a built-in kind: where defaults, checks, columns and warnings come together."""

from collections.abc import Mapping
from sys import intern

from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.pods.columns import PODS
from kohort.apiserver.resources.pods.defaults import default_pod
from kohort.apiserver.resources.pods.preparation import (
    prepare_pod,
    prepare_pod_status,
    prepare_pod_update,
)
from kohort.apiserver.resources.pods.validation import validate_pod, validate_pod_status
from kohort.apiserver.resources.pods.warnings import warn_of_pod
from kohort.apiserver.resources.resource import Behaviour
from kohort.cluster import kinds
from kohort.cluster.objects import Object

_FIELDS = (
    "spec.hostNetwork",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.nominatedNodeName",
    "status.phase",
    "status.podIP",
    "status.podIPs",
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


KINDS = (
    BuiltinKind(
        kinds.POD,
        ("po",),
        ("all",),
        Behaviour(
            warn=warn_of_pod,
            validate=validate_pod,
            validate_status=validate_pod_status,
            default=default_pod,
            prepare_create=prepare_pod,
            prepare_update=prepare_pod_update,
            prepare_status=prepare_pod_status,
            fields=pod_fields,
        ),
        PODS,
        subresources=("binding", "ephemeralcontainers", "eviction", "log", "status"),
        has_generation=True,
        fields=_FIELDS,
        graceful=True,
    ),
)
