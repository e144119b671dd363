"""Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies, as built-in kinds."""

from collections.abc import Mapping

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.kind import BuiltinKind, reported
from kohort.apiserver.resources.network.columns import (
    ENDPOINT_SLICES,
    ENDPOINTS,
    INGRESS_CLASSES,
    INGRESSES,
    NETWORK_POLICIES,
    SERVICES,
)
from kohort.apiserver.resources.network.defaults import (
    complete_service,
    default_endpoint_slice,
    default_endpoints,
    default_ingress,
    default_ingress_class,
    default_network_policy,
    default_service,
    keep_allocated,
)
from kohort.apiserver.resources.network.validation import (
    validate_endpoint_slice,
    validate_endpoints,
    validate_ingress,
    validate_network_policy,
    validate_only_metadata,
    validate_service,
)
from kohort.apiserver.resources.prepare import count_change, keep_status
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.metadata import validate_plain_status
from kohort.cluster import kinds
from kohort.cluster.objects import Object

_OLD_ENDPOINTS = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"


def prepare_service(service: Object) -> None:
    """Clear the status of a new Service, and set its IP families."""
    service["status"] = {"loadBalancer": {}}
    complete_service(service)


def prepare_service_update(service: Object, old: Object) -> None:
    """Keep the status and the allocated addresses of a Service."""
    keep_status(service, old)
    keep_allocated(service, old)
    complete_service(service)


def prepare_slice_update(endpoint_slice: Object, old: Object) -> None:
    """Raise the generation when labels change, since they name the Service."""
    count_change(endpoint_slice, old, "labels")


def warn_of_service(service: Object, old: Object | None) -> list[str]:
    """Warnings for the author of a Service."""
    spec = service.get("spec") or {}
    found = []
    if spec.get("clusterIP") == "None" and spec.get("sessionAffinity") == "ClientIP":
        found.append("spec.SessionAffinity is ignored for headless services")
    if spec.get("externalIPs"):
        found.append(
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
        )
    return found


def service_fields(service: Object) -> Mapping[str, str]:
    """The selectable fields of a service."""
    spec = service.get("spec") or {}
    return {"spec.clusterIP": spec.get("clusterIP") or "", "spec.type": spec.get("type") or ""}


KINDS = (
    BuiltinKind(
        kinds.ENDPOINTS,
        ("ep",),
        (),
        Behaviour(validate=validate_endpoints, default=default_endpoints),
        ENDPOINTS,
        may_appear=True,
        deprecation=_OLD_ENDPOINTS,
    ),
    BuiltinKind(
        kinds.SERVICE,
        ("svc",),
        ("all",),
        Behaviour(
            warn=warn_of_service,
            validate=validate_service,
            validate_status=validate_plain_status,
            default=default_service,
            prepare_create=prepare_service,
            prepare_update=prepare_service_update,
            prepare_status=prepare.keep_spec,
            fields=service_fields,
        ),
        SERVICES,
        subresources=("status",),
        fields=("spec.clusterIP", "spec.type"),
        may_appear=True,
    ),
    BuiltinKind(
        kinds.INGRESS_CLASS,
        (),
        (),
        Behaviour(
            validate=validate_only_metadata(kinds.INGRESS_CLASS), default=default_ingress_class
        ),
        INGRESS_CLASSES,
        has_generation=True,
    ),
    BuiltinKind(
        kinds.INGRESS,
        ("ing",),
        (),
        reported(validate_ingress, default_ingress),
        INGRESSES,
        subresources=("status",),
        has_generation=True,
    ),
    BuiltinKind(
        kinds.NETWORK_POLICY,
        ("netpol",),
        (),
        Behaviour(validate=validate_network_policy, default=default_network_policy),
        NETWORK_POLICIES,
        has_generation=True,
    ),
    BuiltinKind(
        kinds.ENDPOINT_SLICE,
        (),
        (),
        Behaviour(
            validate=validate_endpoint_slice,
            default=default_endpoint_slice,
            prepare_update=prepare_slice_update,
        ),
        ENDPOINT_SLICES,
        has_generation=True,
    ),
)
