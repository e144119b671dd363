"""
Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies, as built-in kinds, with columns.

Columns cut long lists of endpoints after three, so that a row stays a line.
"""

from collections.abc import Mapping, Sequence

from kohort.apiserver.resources import prepare
from kohort.apiserver.resources.kind import BuiltinKind, reported
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
from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    NONE,
    UNSET,
    make_printer,
    shown,
    spec_of,
    wide,
)
from kohort.apiserver.resources.resource import Behaviour
from kohort.apiserver.resources.validation.metadata import validate_plain_status
from kohort.apiserver.resources.workloads.columns import show_labels, show_selector
from kohort.cluster import kinds
from kohort.cluster.objects import Object

_LISTED_MAX = 3


def _shorten(texts: Sequence[str]) -> str:
    listed = ",".join(texts[:_LISTED_MAX])
    more = len(texts) - _LISTED_MAX
    return f"{listed} + {more} more..." if more > 0 else listed


def _read_external(service: Object) -> str:
    spec = spec_of(service)
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    addresses = list(spec.get("externalIPs") or [])
    if spec.get("type") != "LoadBalancer":
        return ",".join(addresses) or NONE
    balancer = (service.get("status") or {}).get("loadBalancer") or {}
    ingress = {i.get("ip") or i.get("hostname") or "" for i in balancer.get("ingress") or []}
    return ",".join([*sorted(ingress - {""}), *addresses]) or "<pending>"


def _read_ports(service: Object) -> str:
    texts = []
    for port in spec_of(service).get("ports") or []:
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(texts) or NONE


def _read_endpoints(endpoints: Object) -> str:
    subsets = endpoints.get("subsets") or []
    if not subsets:
        return NONE
    texts = []
    for subset in subsets:
        addresses = [_bracket(address["ip"]) for address in subset.get("addresses") or []]
        ports = [f":{port['port']}" for port in subset.get("ports") or []] or [""]
        texts += [address + port for port in ports for address in addresses]
    return _shorten(texts)


def _bracket(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _read_slice_ports(piece: Object) -> str:
    ports = [port.get("port") or port.get("name") for port in piece.get("ports") or []]
    return _shorten([str(port or UNSET) for port in ports]) or UNSET


def _read_slice_endpoints(piece: Object) -> str:
    endpoints = piece.get("endpoints") or []
    return _shorten([a for endpoint in endpoints for a in endpoint["addresses"]]) or UNSET


SERVICES = make_printer(
    NAME,
    shown("Type", lambda service: spec_of(service).get("type", ""), "How it is reached."),
    shown("Cluster-IP", lambda service: spec_of(service).get("clusterIP") or NONE),
    shown("External-IP", _read_external, "Where it is reached from outside."),
    shown("Port(s)", _read_ports, "Ports, with those of the nodes and the protocol."),
    AGE,
    wide("Selector", lambda service: show_labels(spec_of(service).get("selector"))),
)
ENDPOINTS = make_printer(
    NAME, shown("Endpoints", _read_endpoints, "The addresses that serve."), AGE
)
ENDPOINT_SLICES = make_printer(
    NAME,
    shown("AddressType", lambda piece: piece.get("addressType", "")),
    shown("Ports", _read_slice_ports),
    shown("Endpoints", _read_slice_endpoints),
    AGE,
)


def _read_hosts(ingress: Object) -> str:
    hosts = [rule["host"] for rule in spec_of(ingress).get("rules") or () if rule.get("host")]
    more = f" + {len(hosts) - _LISTED_MAX} more..." if len(hosts) > _LISTED_MAX else ""
    return ",".join(hosts[:_LISTED_MAX]) + more if hosts else "*"


def _read_balancers(ingress: Object) -> str:
    entries = ((ingress.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return ",".join(entry.get("ip") or entry.get("hostname") or "" for entry in entries)


INGRESSES = make_printer(
    NAME,
    shown("Class", lambda obj: spec_of(obj).get("ingressClassName") or NONE, "Who serves it."),
    shown("Hosts", _read_hosts, "The hosts that it has rules for."),
    shown("Address", _read_balancers, "Where it is reached."),
    shown("Ports", lambda obj: "80, 443" if spec_of(obj).get("tls") else "80"),
    AGE,
)


def _read_parameters(ingress_class: Object) -> str:
    found = spec_of(ingress_class).get("parameters")
    if not found:
        return NONE
    group = f".{found['apiGroup']}" if found.get("apiGroup") else ""
    return f"{found['kind']}{group}/{found['name']}"


INGRESS_CLASSES = make_printer(
    NAME,
    shown("Controller", lambda obj: spec_of(obj).get("controller", "")),
    shown("Parameters", _read_parameters, "The object that configures the controller."),
    AGE,
)
NETWORK_POLICIES = make_printer(
    NAME,
    shown("Pod-Selector", lambda obj: show_selector(spec_of(obj).get("podSelector"))),
    AGE,
)


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
