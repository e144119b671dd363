"""
The Service of a component, and the external Service of an InferenceService.

Ports are those of the runner; the default is 8080. The Service of a multi-node component selects
only leaders, and only those of its own InferenceService.
"""

from collections.abc import Mapping, Sequence

from kohort.apis.inferenceservice import labels, names
from kohort.apis.inferenceservice.components.components import ComponentConfig
from kohort.apis.inferenceservice.components.metadata import service_annotations
from kohort.apis.inferenceservice.objects.deployments import app_of, raw_labels
from kohort.apis.inferenceservice.objects.owned import make_object
from kohort.apis.inferenceservice.objects.pod_defaults import DEFAULT_PORT
from kohort.apis.inferenceservice.spec import ComponentType, InferenceService
from kohort.cluster.kinds import SERVICE
from kohort.cluster.objects import Object

_TYPES = ("LoadBalancer", "NodePort", "ClusterIP")
LEADER = {labels.NODE_TYPE: "head"}


def render_service(config: ComponentConfig, service: InferenceService) -> Object:
    """The Service of a component that runs as a Deployment."""
    return _render(config, service, raw_labels(config), {labels.APP: app_of(config)})


def render_leader_service(config: ComponentConfig, service: InferenceService) -> Object:
    """The Service of a multi-node component, which selects the component's leaders."""
    return _render(config, service, config.labels, {**select_pods(config), **LEADER})


def render_role_service(config: ComponentConfig, service: InferenceService) -> Object:
    """The Service of a role in a RoleBasedGroup, named as under any other strategy."""
    leader = LEADER if config.is_multi_node else {}
    return _render(config, service, config.labels, {**select_pods(config), **leader})


def select_pods(config: ComponentConfig) -> dict[str, str]:
    """The labels that all pods of a component have under every strategy, and no other pods."""
    return {key: config.labels[key] for key in (labels.SERVICE_NAME, labels.COMPONENT)}


def _render(
    config: ComponentConfig,
    service: InferenceService,
    marks: Mapping[str, str],
    selector: Mapping[str, str],
) -> Object:
    notes = service_annotations(config.annotations)
    obj = make_object(SERVICE, service, names.service_name(config.name), marks, notes)
    spec = {**write_type(config.annotations), "selector": dict(selector)}
    return {**obj, "spec": {**spec, "ports": list_ports(config)}}


def write_type(annotations: Mapping[str, str]) -> Object:
    """The type of a Service, from an annotation; ClusterIP if unknown."""
    found = annotations.get(labels.SERVICE_TYPE, "")
    written: Object = {"type": found if found in _TYPES else "ClusterIP"}
    address = annotations.get(labels.LOAD_BALANCER_IP)
    if written["type"] == "LoadBalancer" and address:
        written["loadBalancerIP"] = address
    return written


def list_ports(config: ComponentConfig) -> list[Object]:
    """The Service ports for the ports of the runner."""
    containers: Sequence[Object] = config.pod_spec.get("containers") or [{}]
    named = (each for each in containers if each.get("name") == config.main_container)
    container = next(named, containers[0])
    ports: Sequence[Object] = container.get("ports") or ()
    if not ports:
        name = container.get("name") or names.MAIN_CONTAINER
        return [_port(name, DEFAULT_PORT, "TCP")]
    return [
        _port(
            port.get("name") or (_name_port(port) if len(ports) > 1 else ""),
            port["containerPort"],
            port.get("protocol") or "TCP",
        )
        for port in ports
    ]


def _name_port(port: Object) -> str:
    """A name for one of several ports; the same number may be there for another protocol, too."""
    protocol = port.get("protocol") or "TCP"
    name = f"port-{port['containerPort']}"
    return name if protocol == "TCP" else f"{name}-{protocol.lower()}"


def _port(name: str, number: int, protocol: str) -> Object:
    named = {"name": name} if name else {}
    return {**named, "port": number, "targetPort": number, "protocol": protocol}


def front_port(config: ComponentConfig) -> int:
    """The port of a component's Service that receives requests."""
    return int(list_ports(config)[0]["port"])


def front_of(configs: Mapping[ComponentType, ComponentConfig]) -> ComponentConfig:
    """The component that receives requests: the router if there is one, else the engine."""
    return configs.get(ComponentType.ROUTER) or configs[ComponentType.ENGINE]


def is_exposed(service: InferenceService) -> bool:
    """Whether a service may have an external Service: no label makes it cluster-local."""
    return service.labels.get(labels.VISIBILITY) != labels.CLUSTER_LOCAL


def render_external_service(front: ComponentConfig, service: InferenceService) -> Object:
    """The external Service with the service's name, which selects router or engine."""
    selector = {**select_pods(front), **(LEADER if front.is_multi_node else {})}
    notes = {
        key: value
        for key, value in service.annotations.items()
        if key.startswith(labels.EXTERNAL_PREFIXES)
    }
    marks = {labels.SERVICE_NAME: service.name, labels.COMPONENT: labels.EXTERNAL_COMPONENT}
    port = front_port(front)
    obj = make_object(SERVICE, service, service.name, marks, notes)
    ports = [{"name": "http", "port": port, "targetPort": port, "protocol": "TCP"}]
    return {
        **obj,
        "spec": {**write_type(service.annotations), "selector": selector, "ports": ports},
    }
