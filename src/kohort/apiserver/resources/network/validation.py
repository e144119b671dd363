"""
Validation of Services, endpoints, NetworkPolicies and Ingresses.

The type of a service decides which fields it may have; an allocated address may not
change. Whether an address or a port is free is checked where they are allocated.
"""

from collections.abc import Callable
from typing import Any

from kohort.apiserver.resources.validation.field_errors import (
    check_choice,
    check_unchanged,
    duplicate,
    forbidden,
    invalid,
    ordered,
    required,
)
from kohort.apiserver.resources.validation.metadata import (
    check_metadata,
    validate_labels,
    validate_metadata,
    validate_metadata_update,
)
from kohort.apiserver.resources.validation.selectors import validate_selector
from kohort.cluster import kinds
from kohort.cluster.fields import FieldError
from kohort.cluster.names import (
    BAD_ADDRESS,
    check_label,
    check_port,
    check_port_name,
    check_subdomain,
    check_undotted,
    find_address,
)
from kohort.cluster.objects import Kind, Object

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_EXTERNAL = ("NodePort", "LoadBalancer")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITIES = ("ClientIP", "None")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_LOOPBACK = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
_PATHS = ("Exact", "ImplementationSpecific", "Prefix")


def validate_service(service: Object, old: Object | None) -> list[FieldError]:
    """The errors in a service."""
    spec = service.get("spec") or {}
    if old is None:
        faults = validate_metadata(service, kinds.SERVICE, check_undotted)
    else:
        faults = validate_metadata_update(service, old) + _validate_address_kept(spec, old["spec"])
    kind = spec.get("type")
    ports = spec.get("ports") or []
    if not ports and spec.get("clusterIP") != "None" and kind != "ExternalName":
        faults.append(required("spec.ports"))
    if kind == "ExternalName":
        faults += _validate_external_name(spec)
    faults += _validate_ports(ports, kind)
    faults += validate_labels(spec.get("selector") or {}, "spec.selector")
    faults += check_choice("spec.sessionAffinity", spec.get("sessionAffinity"), _AFFINITIES)
    faults += check_choice("spec.type", kind, _TYPES)
    if spec.get("externalTrafficPolicy") and kind not in _EXTERNAL and not spec.get("externalIPs"):
        why = "may only be set for externally-accessible services"
        faults.append(invalid("spec.externalTrafficPolicy", spec["externalTrafficPolicy"], why))
    return faults + _validate_addresses(spec)


def _validate_external_name(spec: Object) -> list[FieldError]:
    name = spec.get("externalName") or ""
    faults: list[FieldError] = []
    if spec.get("clusterIPs"):
        why = "may not be set when `type` is 'ExternalName'"
        faults.append(forbidden("spec.clusterIPs", why))
    if not name:
        return [*faults, required("spec.externalName")]
    complaints = check_subdomain(name.removesuffix("."))
    return faults + [invalid("spec.externalName", name, why) for why in complaints]


def _validate_ports(ports: list[Object], kind: Any) -> list[FieldError]:
    faults: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        where = f"spec.ports[{index}]"
        name = port.get("name") or ""
        if name:
            faults += [invalid(f"{where}.name", name, why) for why in check_label(name)]
            if name in names:
                faults.append(duplicate(f"{where}.name", name))
            names.add(name)
        elif len(ports) > 1:
            faults.append(required(f"{where}.name"))
        faults += _validate_port(port, where)
        if port.get("nodePort") and kind == "ClusterIP":
            why = "may not be used when `type` is 'ClusterIP'"
            faults.append(forbidden(f"{where}.nodePort", why))
    return faults + _find_repeated_ports(ports)


def _validate_port(port: Object, path: str) -> list[FieldError]:
    number, target = port.get("port") or 0, port.get("targetPort")
    faults = [invalid(f"{path}.port", number, why) for why in check_port(number)]
    faults += check_choice(f"{path}.protocol", port.get("protocol"), _PROTOCOLS)
    complaints = check_port_name(target) if isinstance(target, str) else check_port(target)
    return faults + [invalid(f"{path}.targetPort", target, why) for why in complaints]


def _find_repeated_ports(ports: list[Object]) -> list[FieldError]:
    faults: list[FieldError] = []
    seen: set[tuple[Any, Any]] = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol"), port.get("port"))
        if key in seen:
            shown = {"Name": "", "Protocol": key[0], "AppProtocol": None, "Port": key[1]}
            value = {**shown, "TargetPort": 0, "NodePort": 0}
            faults.append(duplicate(f"spec.ports[{index}]", ordered(value)))
        seen.add(key)
    return faults


def _validate_addresses(spec: Object) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, address in enumerate(spec.get("clusterIPs") or ()):
        path = f"spec.clusterIPs[{index}]"
        if address == "None":
            if spec.get("type") in _EXTERNAL:
                why = f"may not be set to 'None' for {spec['type']} services"
                faults.append(invalid(path, address, why))
        elif find_address(address) is None:
            faults.append(invalid(path, address, BAD_ADDRESS))
    return faults


def _validate_address_kept(spec: Object, before: Object) -> list[FieldError]:
    kinds_differ = "ExternalName" in (spec.get("type"), before.get("type"))
    old, new = before.get("clusterIPs") or [], spec.get("clusterIPs") or []
    if kinds_differ or not old or old[:1] == new[:1]:
        return []
    return [invalid("spec.clusterIPs[0]", new, "may not change once set")]


def validate_endpoints(endpoints: Object, old: Object | None) -> list[FieldError]:
    """The errors in endpoints of the older form."""
    if old is None:
        faults = validate_metadata(endpoints, kinds.ENDPOINTS)
    else:
        faults = validate_metadata_update(endpoints, old)
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        path = f"subsets[{index}]"
        addresses = subset.get("addresses") or []
        waiting = subset.get("notReadyAddresses") or []
        if not addresses and not waiting:
            why = "must specify `addresses` or `notReadyAddresses`"
            faults.append(required(path, why))
        for field, entries in (("addresses", addresses), ("notReadyAddresses", waiting)):
            for place, entry in enumerate(entries):
                faults += _validate_endpoint(entry, f"{path}.{field}[{place}]")
        faults += _validate_endpoint_ports(subset.get("ports") or [], f"{path}.ports")
    return faults


def _validate_endpoint(entry: Object, path: str) -> list[FieldError]:
    address = entry.get("ip") or ""
    if find_address(address) is None:
        complaints = (BAD_ADDRESS, "must be a valid IP address")
        return [invalid(f"{path}.ip", address, why) for why in complaints]
    return _validate_reach(address, f"{path}.ip")


def _validate_reach(address: str, path: str) -> list[FieldError]:
    found = find_address(address)
    if found is None:
        return []
    faults: list[FieldError] = []
    if found.is_unspecified:
        faults.append(invalid(path, address, f"may not be unspecified ({address})"))
    if found.is_loopback:
        faults.append(invalid(path, address, _LOOPBACK))
    if found.is_link_local:
        why = "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
        faults.append(invalid(path, address, why))
    return faults


def _validate_endpoint_ports(ports: list[Object], path: str) -> list[FieldError]:
    faults: list[FieldError] = []
    for index, port in enumerate(ports):
        name, number = port.get("name") or "", port.get("port") or 0
        where = f"{path}[{index}]"
        if name:
            faults += [invalid(f"{where}.name", name, why) for why in check_label(name)]
        elif len(ports) > 1:
            faults.append(required(f"{where}.name"))
        faults += [invalid(f"{where}.port", number, why) for why in check_port(number)]
        faults += check_choice(f"{where}.protocol", port.get("protocol"), _PROTOCOLS)
    return faults


def validate_endpoint_slice(piece: Object, old: Object | None) -> list[FieldError]:
    """The errors in a slice of endpoints."""
    if old is None:
        faults = validate_metadata(piece, kinds.ENDPOINT_SLICE)
    else:
        faults = validate_metadata_update(piece, old)
        faults += check_unchanged("addressType", piece.get("addressType"), old.get("addressType"))
    kind = piece.get("addressType")
    if not kind:
        return [*faults, required("addressType")]
    if kind not in _ADDRESS_TYPES:
        faults += check_choice("addressType", kind, _ADDRESS_TYPES)
        empty = [i for i, e in enumerate(piece.get("endpoints") or ()) if not e.get("addresses")]
        return [*faults, *(_no_address(f"endpoints[{index}]") for index in empty)]
    faults += _validate_slice_ports(piece.get("ports") or [])
    for index, endpoint in enumerate(piece.get("endpoints") or ()):
        faults += _validate_slice_endpoint(endpoint, f"endpoints[{index}]", kind)
    return faults


def _validate_slice_ports(ports: list[Object]) -> list[FieldError]:
    faults: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        name = port.get("name") or ""
        if name:
            faults += [invalid(f"ports[{index}].name", name, why) for why in check_label(name)]
        if name in names:
            faults.append(duplicate(f"ports[{index}].name", name))
        names.add(name)
        faults += check_choice(f"ports[{index}].protocol", port.get("protocol"), _PROTOCOLS)
    return faults


def _no_address(path: str) -> FieldError:
    return required(f"{path}.addresses", "must contain at least 1 address")


def _validate_slice_endpoint(endpoint: Object, path: str, kind: str) -> list[FieldError]:
    addresses = endpoint.get("addresses") or []
    if not addresses:
        return [_no_address(path)]
    faults: list[FieldError] = []
    for index, address in enumerate(addresses):
        where = f"{path}.addresses[{index}]"
        if kind == "FQDN":
            faults += [invalid(where, address, why) for why in check_subdomain(address)]
            continue
        found = find_address(address)
        if found is None:
            faults.append(invalid(where, address, BAD_ADDRESS))
            continue
        if f"IPv{found.version}" != kind:
            why = f"must be an {kind} address"
            faults.append(invalid(f"{path}.addresses", address, why))
        faults += _validate_reach(address, where)
    return faults


def validate_only_metadata(kind: Kind) -> Callable[[Object, Object | None], list[FieldError]]:
    """Validation of a kind by its metadata only."""

    def validate(obj: Object, old: Object | None) -> list[FieldError]:
        return check_metadata(obj, old, kind)

    return validate


def validate_network_policy(policy: Object, old: Object | None) -> list[FieldError]:
    """The errors in a NetworkPolicy."""
    spec = policy.get("spec") or {}
    faults = check_metadata(policy, old, kinds.NETWORK_POLICY)
    faults += validate_selector(spec.get("podSelector") or {}, "spec.podSelector")
    for index, kind in enumerate(spec.get("policyTypes") or ()):
        faults += check_choice(f"spec.policyTypes[{index}]", kind, ("Egress", "Ingress"))
    return faults


def validate_ingress(ingress: Object, old: Object | None) -> list[FieldError]:
    """The errors in an Ingress: such as no backend, or a path without a pathType."""
    spec = ingress.get("spec") or {}
    faults = check_metadata(ingress, old, kinds.INGRESS)
    if not spec.get("rules") and not spec.get("defaultBackend"):
        why = "either `defaultBackend` or `rules` must be specified"
        faults.append(invalid("spec", None, why))
    for index, rule in enumerate(spec.get("rules") or ()):
        paths = (rule.get("http") or {}).get("paths")
        where = f"spec.rules[{index}].http.paths"
        if rule.get("http") is not None and not paths:
            faults.append(required(where))
        for at, path in enumerate(paths or ()):
            faults += _validate_path(path, f"{where}[{at}]")
    return faults


def _validate_path(path: Object, where: str) -> list[FieldError]:
    if path.get("pathType") is None:
        return [required(f"{where}.pathType", "pathType must be specified")]
    return check_choice(f"{where}.pathType", path["pathType"], _PATHS)
