"""
The discovery ConfigMap: the roles of a group, and the address of each instance.

Upstream writes the instance's name as address, which resolves to no pod if an instance has several
(rbg#448). We write the address of the leader or first pod, and list those of the other pods beside
it. The operator leaves upstream's text until a role or an address changes.
"""

from functools import lru_cache

import orjson
import yaml

from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.templates import CONFIG_FILE, RoleContext, find_service
from kohort.apis.rolebasedgroup.roles import LEADER, WORKER, Pattern, as_int
from kohort.cluster.kinds import CONFIG_MAP
from kohort.cluster.objects import Object, name_of, namespace_of, owner_reference


def make_config_map(group: Object, contexts: list[RoleContext]) -> Object | None:
    """The ConfigMap of a group; None if no role has ordinals, since no pod would mount it."""
    listed = [context for context in contexts if context.role.has_ordinals]
    if not listed:
        return None
    return {
        "apiVersion": CONFIG_MAP.api_version,
        "kind": CONFIG_MAP.name,
        "metadata": {
            "name": names.config_name(name_of(group)),
            "namespace": namespace_of(group),
            "ownerReferences": [owner_reference(group)],
        },
        "data": {CONFIG_FILE: write_config(group, listed)},
    }


def write_listed(group: Object, contexts: list[RoleContext], as_upstream: bool = False) -> str:
    """The text of the file, which lists the roles whose pods have addresses of their own."""
    listed = [context for context in contexts if context.role.has_ordinals]
    return write_config(group, listed, as_upstream)


def write_config(group: Object, contexts: list[RoleContext], as_upstream: bool = False) -> str:
    """The text of the file that pods mount."""
    roles = {context.role.name: _describe(context, as_upstream) for context in contexts}
    listed = [context.role.name for context in contexts]
    head = {"name": name_of(group), "size": len(listed), "roles": listed}
    return _write_yaml(orjson.dumps({"group": head, "roles": roles}))


@lru_cache(maxsize=1_024)
def _write_yaml(body: bytes) -> str:
    """YAML of a body in JSON; written once for a body, since it grows with all instances."""
    text: str = yaml.dump(
        orjson.loads(body), Dumper=yaml.CSafeDumper, default_flow_style=False, width=4096
    )
    return text


def _describe(context: RoleContext, as_upstream: bool) -> Object:
    role = context.role
    ports = {_port_key(port): as_int(port.get("port"), 0) for port in role.service_ports}
    instances = [
        {**_address(context, ordinal, as_upstream), **({"ports": dict(ports)} if ports else {})}
        for ordinal in range(role.replicas)
    ]
    return {"size": role.replicas, "instances": instances}


def _address(context: RoleContext, ordinal: int, as_upstream: bool) -> Object:
    instance = names.instance_name(context.workload_name, ordinal)
    own = f"{instance}.{context.service_name}"
    on_set = context.role.workload == labels.INSTANCE_SET
    if as_upstream or not on_set or context.role.pattern is Pattern.STANDALONE:
        return {"address": own}
    addresses = _list_addresses(context, instance)
    if len(addresses) < 2:
        return {"address": addresses[0] if addresses else own}
    return {"address": addresses[0], "pods": addresses}


def _list_addresses(context: RoleContext, instance: str) -> list[str]:
    """The DNS addresses of an instance's pods that have one, leaders first."""
    found = []
    for component in context.role.components:
        service = find_service(context, component)
        for index in range(component.size if service else 0):
            found.append(f"{_pod_name(context, instance, component.name, index)}.{service}")
    return found


def _pod_name(context: RoleContext, instance: str, component: str, index: int) -> str:
    if context.role.pattern is Pattern.LEADER_WORKER and component in (LEADER, WORKER):
        return names.leader_worker_pod_name(instance, index + (component == WORKER))
    return names.component_pod_name(instance, component, index)


def _port_key(port: Object) -> str:
    name = port.get("name")
    return str(name).lower().replace("-", "_") if name else f"port{as_int(port.get('port'), 0)}"
