"""
Defaults of services and endpoints.

Addresses and node ports are not defaults: the server allocates them, since it knows
which are free. A service keeps them when it changes.
"""

from kohort.cluster.objects import Object

_WITH_ADDRESS = ("ClusterIP", "NodePort", "LoadBalancer")
_WITH_NODE_PORT = ("NodePort", "LoadBalancer")
_AFFINITY_SECONDS = 10800


def default_service(service: Object) -> None:
    """Set the defaults of a service, save for its address."""
    spec = service.setdefault("spec", {})
    kind = spec.setdefault("type", "ClusterIP")
    if spec.setdefault("sessionAffinity", "None") == "None":
        spec.pop("sessionAffinityConfig", None)
    else:
        config = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        config.setdefault("timeoutSeconds", _AFFINITY_SECONDS)
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if kind in _WITH_ADDRESS:
        _default_addressed(spec)
    if kind in _WITH_NODE_PORT:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    service.setdefault("status", {}).setdefault("loadBalancer", {})


def keep_allocated(service: Object, old: Object) -> None:
    """Keep allocated addresses and ports, unless the update names others or needs none."""
    spec, before = service["spec"], old["spec"]
    if spec.get("type") in _WITH_ADDRESS and before.get("type") in _WITH_ADDRESS:
        if not spec.get("clusterIP") and before.get("clusterIP"):
            spec["clusterIP"] = before["clusterIP"]
            spec["clusterIPs"] = list(before.get("clusterIPs") or [before["clusterIP"]])
    elif spec.get("type") == "ExternalName" and before.get("type") != "ExternalName":
        _drop_unchanged(spec, before)
    if spec.get("type") in _WITH_NODE_PORT and before.get("type") in _WITH_NODE_PORT:
        known = {
            (p.get("port"), p.get("protocol")): p.get("nodePort") for p in before.get("ports") or ()
        }
        for port in _unassigned_ports(service):
            found = known.get((port.get("port"), port.get("protocol")))
            if found:
                port["nodePort"] = found
    elif spec.get("type") == "ClusterIP":
        _drop_node_ports(spec, before)


def _unassigned_ports(service: Object) -> list[Object]:
    spec = service["spec"]
    if spec.get("type") not in _WITH_NODE_PORT:
        return []
    if spec["type"] == "LoadBalancer" and not spec.get("allocateLoadBalancerNodePorts", True):
        return []
    return [port for port in spec.get("ports") or () if not port.get("nodePort")]


def _drop_unchanged(spec: Object, before: Object) -> None:
    fields = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
    for field in fields:
        if spec.get(field) == before.get(field):
            spec.pop(field, None)
    _drop_node_ports(spec, before)


def _drop_node_ports(spec: Object, before: Object) -> None:
    given = {port.get("nodePort") for port in before.get("ports") or ()}
    for port in spec.get("ports") or ():
        if port.get("nodePort") in given:
            port.pop("nodePort", None)
    for field in ("externalTrafficPolicy", "allocateLoadBalancerNodePorts"):
        if spec.get(field) == before.get(field):
            spec.pop(field, None)


def _default_addressed(spec: Object) -> None:
    spec.setdefault("internalTrafficPolicy", "Cluster")
    address = spec.get("clusterIP")
    if address and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [address]
    elif not address and spec.get("clusterIPs"):
        spec["clusterIP"] = spec["clusterIPs"][0]


def complete_service(service: Object) -> None:
    """Set the IP families, after managedFields are written, so that no client owns them."""
    spec = service["spec"]
    if spec.get("type") not in _WITH_ADDRESS:
        return
    # Endpoints of a Service without a selector are written by users, so they may lie anywhere.
    anywhere = spec.get("clusterIP") == "None" and not spec.get("selector")
    spec.setdefault("ipFamilyPolicy", "RequireDualStack" if anywhere else "SingleStack")
    dual = anywhere and spec["ipFamilyPolicy"] != "SingleStack"
    spec.setdefault("ipFamilies", ["IPv4", "IPv6"] if dual else ["IPv4"])


def default_endpoints(endpoints: Object) -> None:
    """Set the defaults of Endpoints, the older form of EndpointSlices."""
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            port.setdefault("protocol", "TCP")


def default_endpoint_slice(endpoint_slice: Object) -> None:
    """Set the defaults of a slice of endpoints."""
    endpoint_slice.setdefault("endpoints", None)
    for endpoint in endpoint_slice["endpoints"] or ():
        endpoint.setdefault("conditions", {})
    endpoint_slice.setdefault("ports", None)
    for port in endpoint_slice["ports"] or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def default_network_policy(policy: Object) -> None:
    """Set the defaults of a NetworkPolicy: the policy types follow from its rules."""
    spec = policy.setdefault("spec", {})
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", *(["Egress"] if spec.get("egress") else [])]
    for rule in [*(spec.get("ingress") or ()), *(spec.get("egress") or ())]:
        for port in rule.get("ports") or ():
            port.setdefault("protocol", "TCP")


def default_ingress(ingress: Object) -> None:
    """Set the defaults of an Ingress: it starts with an empty status."""
    ingress.setdefault("spec", {})
    ingress.setdefault("status", {}).setdefault("loadBalancer", {})


def default_ingress_class(ingress_class: Object) -> None:
    """Set the defaults of an IngressClass: its parameters have the scope Cluster."""
    parameters = ingress_class.setdefault("spec", {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")
