"""
Access to a service from outside: an Ingress, HTTPRoutes of the Gateway API, or a VirtualService.

Each host routes to the Service of a component, at that Service's port. Upstream routes every host
to port 8080, and some to Services that do not exist. The path of a service on the domain that all
share has a route of its own, since each rule of a route counts for all hosts of the route.
"""

import re
from collections.abc import Iterator, Mapping

from kohort.apis.inferenceservice import kinds, labels, names, reasons
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.configuration import IngressConfig
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.objects.services import front_of, front_port, is_exposed
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentType, InferenceService
from kohort.apis.inferenceservice.templates import render_text
from kohort.cluster.kinds import INGRESS, SERVICE
from kohort.cluster.names import check_subdomain
from kohort.cluster.objects import Object

Configs = Mapping[ComponentType, ComponentConfig]
Backend = tuple[str, ComponentConfig]  # a host, and the component behind it
_MESH = "mesh"
_TIMEOUT_SECONDS = 60


def domain_of(name: str, service: InferenceService, config: IngressConfig) -> str:
    """The host name of a service or component; raises ServiceError if it is invalid."""
    values: dict[str, str | dict[str, str]] = {
        "Name": names.truncate_dns(name),
        "Namespace": service.namespace,
        "IngressDomain": config.domain,
        "Annotations": dict(service.annotations),
        "Labels": dict(service.labels),
    }
    host = render_text(config.domain_template, values)
    if check_subdomain(host):
        raise ServiceError(
            reasons.WORKLOAD,
            f"template {config.domain_template!r} gives {host!r}, which is no host name",
        )
    return host


def find_domain(name: str, service: InferenceService, config: IngressConfig) -> str:
    """As ``domain_of``; empty if the template gives no host name."""
    try:
        return domain_of(name, service, config)
    except ServiceError:
        return ""


def check_templates(service: InferenceService, config: IngressConfig) -> None:
    """Raises ServiceError if a template of the service's URL gives no host name or no path."""
    domain_of(service.name, service, config)
    path_of(service, config)


def path_of(service: InferenceService, config: IngressConfig) -> str:
    """The path of a service on the shared domain; empty without a path template."""
    if not config.path_template:
        return ""
    values = {"Name": service.name, "Namespace": service.namespace}
    path = render_text(config.path_template, values)
    if not re.fullmatch(r"/[^\s?#]*", path):
        raise ServiceError(
            reasons.WORKLOAD, f"template {config.path_template!r} gives {path!r}, which is no path"
        )
    return path


def list_hosts(
    configs: Configs, service: InferenceService, config: IngressConfig
) -> Iterator[Backend]:
    """All hosts of a service: its own, for router or engine, and one for each component."""
    engine = configs[ComponentType.ENGINE]
    router, decoder = configs.get(ComponentType.ROUTER), configs.get(ComponentType.DECODER)
    yield domain_of(service.name, service, config), router or engine
    if router is not None:
        yield domain_of(router.name, service, config), router
    if router is not None or decoder is not None:
        yield domain_of(engine.name, service, config), engine
    if decoder is not None:
        yield domain_of(decoder.name, service, config), decoder


def render_ingress(configs: Configs, service: InferenceService, config: IngressConfig) -> Object:
    """The Ingress of a service."""
    rules = [
        {
            "host": host,
            "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": _backend(behind)}]},
        }
        for host, behind in list_hosts(configs, service, config)
    ]
    spec: Object = {"rules": rules}
    if config.class_name:
        spec["ingressClassName"] = config.class_name
    # Upstream sets no labels; we set the label by which the operator finds its objects.
    marks = {labels.SERVICE_NAME: service.name}
    obj = make_object(INGRESS, service, service.name, marks, service.annotations)
    return {**obj, "spec": spec}


def _backend(behind: ComponentConfig) -> Object:
    name = names.service_name(behind.name)
    return {"service": {"name": name, "port": {"number": front_port(behind)}}}


def render_routes(
    configs: Configs, service: InferenceService, config: IngressConfig
) -> list[Object]:
    """HTTPRoutes of the Gateway API: of the service, of each component, and of the path if any."""
    routes = [_render_route(service.name, front_of(configs), service, config)]
    for behind in configs.values():
        routes.append(_render_route(behind.name, behind, service, config))
    path = path_of(service, config)
    if path:
        behind, name = front_of(configs), f"{service.name}-path"
        rule = _route_rule(behind, service, _match_path(path))
        routes.append(_make_route(name, [config.domain], behind, service, config, rule))
    return routes


def _render_route(
    name: str, behind: ComponentConfig, service: InferenceService, config: IngressConfig
) -> Object:
    hosts = [domain_of(name, service, config)]
    for domain in config.additional_domains:
        hosts.append(f"{names.truncate_dns(name)}.{service.namespace}.{domain}")
    is_decoder = behind.component_type is ComponentType.DECODER
    rule = _route_rule(behind, service, "^/v1/.*$" if is_decoder else "^/.*$")
    return _make_route(name, hosts, behind, service, config, rule)


def _match_path(path: str) -> str:
    """The pattern of a path and all below it: not of another that begins with the same letters."""
    return f"^{re.escape(path.rstrip('/'))}(/.*)?$"


def _make_route(
    name: str,
    hosts: list[str],
    behind: ComponentConfig,
    service: InferenceService,
    config: IngressConfig,
    rule: Object,
) -> Object:
    namespace, _, gateway = config.ome_gateway.rpartition("/")
    parent: Object = {
        "group": kinds.HTTP_ROUTE.group,
        "kind": "Gateway",
        "name": gateway or config.ome_gateway,
    }
    if namespace:
        parent["namespace"] = namespace
    marks = {**behind.labels}
    obj = make_object(kinds.HTTP_ROUTE, service, name, marks)
    return {**obj, "spec": {"hostnames": hosts, "parentRefs": [parent], "rules": [rule]}}


def _route_rule(behind: ComponentConfig, service: InferenceService, pattern: str) -> Object:
    headers = [
        {"name": "OMe-Isvc-Name", "value": service.name},
        {"name": "OME-Isvc-Namespace", "value": service.namespace},
    ]
    reference = {
        "kind": "Service",
        "name": names.service_name(behind.name),
        "namespace": service.namespace,
        "port": front_port(behind),
    }
    seconds = behind.component_extension.timeout_seconds or _TIMEOUT_SECONDS
    return {
        "matches": [{"path": {"type": "RegularExpression", "value": pattern}}],
        "filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": headers}}],
        "backendRefs": [reference],
        "timeouts": {"request": f"{seconds}s"},
    }


def render_virtual_service(
    configs: Configs, service: InferenceService, config: IngressConfig, cluster_domain: str
) -> Object:
    """The Istio VirtualService that routes a service's hosts and path to its Knative Service."""
    local = names.service_host(service.name, service.namespace, cluster_domain)
    external = domain_of(service.name, service, config)
    path = path_of(service, config).rstrip("/") if is_exposed(service) else ""
    gateways, hosts = [config.local_gateway, _MESH], [local]
    if is_exposed(service) and external != local:
        hosts.append(external)
    if is_exposed(service) and (external != local or path):
        gateways.append(config.gateway)
    front = front_of(configs)
    behind = names.service_host(front.name, service.namespace, cluster_domain)
    destination = {"host": config.knative_gateway_service, "port": {"number": 8080}}
    target: Object = {
        "route": [{"destination": destination, "weight": 100}],
        "headers": {"request": {"set": {"Host": behind}}},
    }
    rules = [{"match": [{"authority": _match_host(host)} for host in hosts], **target}]
    if path:
        shared = {"authority": _match_host(config.domain), "gateways": [config.gateway]}
        ways = ({"prefix": f"{path}/"}, {"exact": path})
        match = [{"uri": way, **shared} for way in ways]
        rules.append({"match": match, "rewrite": {"uri": "/"}, **target})
        hosts.append(config.domain)
    marks = {labels.SERVICE_NAME: service.name}
    obj = make_object(kinds.VIRTUAL_SERVICE, service, service.name, marks, service.annotations)
    spec = {"hosts": hosts, "gateways": [each for each in gateways if each], "http": rules}
    return {**obj, "spec": spec}


def _match_host(host: str) -> Object:
    return {"regex": rf"^{re.escape(host)}(?::\d{{1,5}})?$"}


def render_gateway_alias(service: InferenceService, config: IngressConfig) -> Object:
    """The ExternalName Service with the service's name, an alias of the local gateway."""
    marks = {labels.SERVICE_NAME: service.name}
    obj = make_object(SERVICE, service, service.name, marks)
    spec = {
        "type": "ExternalName",
        "externalName": config.local_gateway_service,
        "sessionAffinity": "None",
    }
    return {**obj, "spec": spec}
