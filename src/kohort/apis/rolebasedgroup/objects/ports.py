"""
Ports that the operator allocates to a pod or a role, and addresses of other components.

A template's annotation requests ports. The operator stores a port of a pod on its RoleInstance
under ``<pod>.<port>`` and one of a role on its RoleInstanceSet under ``<component>.<port>``, so it
survives every restart. The number follows from the key and the ports in use: nothing is random,
so two plans from one snapshot agree. The operator adds the variables to each pod that it creates,
never to the template, which would then differ between instances.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.pods import PodPlace, list_places
from kohort.apis.rolebasedgroup.roles import as_int, as_map, as_objects
from kohort.cluster.objects import Object, annotations_of, labels_of, namespace_of

POD_SCOPED, ROLE_SCOPED = "PodScoped", "RoleScoped"
FIRST_PORT, PORT_COUNT = 30_000, 5_000
_KEY_MAX = 63  # characters of an annotation's key without a prefix


@dataclass(frozen=True, slots=True)
class PortRequest:
    """One port that a template's annotation requests."""

    name: str
    env: str
    annotation: str
    scope: str


@dataclass(frozen=True, slots=True)
class PortKeys:
    """The annotation keys under which the ports of an instance are stored."""

    of_pods: tuple[str, ...]  # annotations of the RoleInstance
    of_role: tuple[str, ...]  # annotations of the RoleInstanceSet


def asks_for_ports(instance: Object) -> bool:
    """Whether a template of an instance has an annotation for ports or discovery."""
    keys = (labels.PORT_ALLOCATOR, labels.DISCOVERY)
    return any(
        key in annotations_of(as_map(component.get("template")))
        or key in as_map(component.get("annotations"))
        for component in as_objects(as_map(instance.get("spec")).get("components"))
        for key in keys
    )


def list_port_keys(instance: Object) -> PortKeys:
    """The keys of all ports that an instance needs."""
    pods: dict[str, None] = {}
    role: dict[str, None] = {}
    for place in list_places(instance):
        for request in read_requests(place.component):
            if request.scope == ROLE_SCOPED:
                role[port_key(place.component_name, request.name)] = None
            else:
                pods[port_key(place.name, request.name)] = None
    return PortKeys(tuple(pods), tuple(role))


def choose_ports(
    keys: Collection[str],
    taken: Collection[int],
    first: int = FIRST_PORT,
    count: int = PORT_COUNT,
    owner: str = "",
) -> dict[str, int]:
    """A free port for each key, from a hash of owner and key; no entry if all ports are taken."""
    used = set(taken)
    chosen: dict[str, int] = {}
    for key in sorted(keys):
        start = int(names.hash_text(f"{owner}/{key}"), 16) % count
        for step in range(count):
            port = first + (start + step) % count
            if port not in used:
                chosen[key] = port
                used.add(port)
                break
    return chosen


def is_port(key: str, value: str) -> bool:
    """Whether an annotation holds an allocated port: a number under a key without a prefix."""
    return "/" not in key and value.isdecimal()


def read_ports(notes: Mapping[str, str], keys: Collection[str]) -> dict[str, int]:
    """The ports that annotations hold under these keys."""
    return {key: int(notes[key]) for key in keys if notes.get(key, "").isdecimal()}


def read_requests(component: Object) -> list[PortRequest]:
    """The ports that a component's template requests."""
    asked = _read_annotation(component, labels.PORT_ALLOCATOR)
    return [
        PortRequest(
            name=str(each.get("name") or ""),
            env=str(each.get("env") or ""),
            annotation=str(each.get("annotationKey") or ""),
            scope=str(each.get("scope") or POD_SCOPED),
        )
        for each in as_objects(asked.get("allocations"))
    ]


def port_key(owner: str, port: str) -> str:
    """The annotation key of a port; a key that would be too long becomes its hash."""
    key = f"{owner}.{port}"
    return key if len(key) <= _KEY_MAX else names.hash_text(key)


def list_references(component: Object) -> list[tuple[str, str, str]]:
    """References of a template to ports of other roles: variable, role, and annotation key."""
    found = []
    for each in as_objects(_read_annotation(component, labels.PORT_ALLOCATOR).get("references")):
        parts = str(each.get("from") or "").split(".")
        if len(parts) == 3:
            found.append((str(each.get("env") or ""), parts[0], port_key(parts[1], parts[2])))
    return found


def inject_ports(
    pod: Object,
    instance: Object,
    place: PodPlace,
    ports: Mapping[str, int],
    of_roles: Mapping[str, Mapping[str, int]] | None = None,
) -> Object:
    """The pod with variables for its ports and for those of other components and roles."""
    variables: dict[str, str] = {}
    notes: dict[str, str] = {}
    for request in read_requests(place.component):
        owner = place.component_name if request.scope == ROLE_SCOPED else place.name
        port = ports.get(port_key(owner, request.name))
        if port is not None:
            variables[request.env] = str(port)
            notes[request.annotation] = str(port)
    variables |= dict(_list_discovered(instance, place, ports))
    for env, role, key in list_references(place.component):
        port = (of_roles or {}).get(role, {}).get(key)
        if port is not None:
            variables[env] = str(port)
    for held in (variables, notes):
        held.pop("", None)
    return _add(pod, variables, notes)


def list_unknown_ports(instance: Object, of_roles: Mapping[str, Collection[str]]) -> list[str]:
    """A sentence for each referenced port that no component or role requests."""
    keys = list_port_keys(instance)
    asked = dict.fromkeys((*keys.of_pods, *keys.of_role), 0)
    found: dict[str, None] = {}
    for place in list_places(instance):
        discovery = _read_annotation(place.component, labels.DISCOVERY)
        for each in as_objects(discovery.get("portRefs")):
            component, name = str(each.get("component")), str(each.get("portName"))
            index = as_int(each.get("index"), 0)
            if _find_port(instance, component, name, index, asked) is None:
                found[f"port {name!r} of component {component!r} does not exist"] = None
        for _, role, key in list_references(place.component):
            if key not in of_roles.get(role, ()):
                found[f"port {key!r} of role {role!r} does not exist"] = None
    return list(found)


def _list_discovered(
    instance: Object, place: PodPlace, ports: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    found = _read_annotation(place.component, labels.DISCOVERY)
    for each in as_objects(found.get("addressRefs")):
        index = as_int(each.get("index"), 0)
        address = _find_address(instance, str(each.get("component")), index)
        if address:
            yield str(each.get("env") or ""), address
    for each in as_objects(found.get("portRefs")):
        component, name = str(each.get("component")), str(each.get("portName"))
        index = as_int(each.get("index"), 0)
        port = _find_port(instance, component, name, index, ports)
        if port is not None:
            yield str(each.get("env") or ""), str(port)


def _find_address(instance: Object, component: str, index: int) -> str:
    for place in list_places(instance):
        if place.component_name == component and place.index == index:
            service = place.component.get("serviceName")
            domain = f"{service}.{namespace_of(instance)}.svc.cluster.local"
            return f"{place.name}.{domain}" if service else ""
    return ""


def _find_port(
    instance: Object, component: str, name: str, index: int, ports: Mapping[str, int]
) -> int | None:
    shared = ports.get(port_key(component, name))
    if shared is not None:
        return shared
    for place in list_places(instance):
        if place.component_name == component and place.index == index:
            return ports.get(port_key(place.name, name))
    return None


def _read_annotation(component: Object, key: str) -> Object:
    template = as_map(component.get("template"))
    text = annotations_of(template).get(key) or as_map(component.get("annotations")).get(key, "")
    try:
        return as_map(orjson.loads(text)) if text else {}
    except ValueError:
        return {}


def _add(pod: Object, variables: Mapping[str, str], notes: Mapping[str, str]) -> Object:
    if not variables and not notes:
        return pod
    metadata, spec = as_map(pod.get("metadata")), as_map(pod.get("spec"))
    added = [{"name": name, "value": value} for name, value in variables.items()]
    containers = [
        {**container, "env": [*_without(container.get("env"), variables), *added]}
        for container in as_objects(spec.get("containers"))
    ]
    marked = {**metadata, "labels": labels_of(pod)}
    if notes or annotations_of(pod):
        marked["annotations"] = {**annotations_of(pod), **notes}
    return {**pod, "metadata": marked, "spec": {**spec, "containers": containers}}


def _without(env: Any, names_taken: Mapping[str, str]) -> list[Object]:
    return [variable for variable in as_objects(env) if variable.get("name") not in names_taken]
