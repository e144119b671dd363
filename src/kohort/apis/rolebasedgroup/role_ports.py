"""
Role-wide ports: one for all pods of a role, stored on its RoleInstanceSet.

Two groups may choose the same port before either sees the other's write (``port_claims``). So a
port is settled, and the operator creates pods with it, when the set in the cache has it, and either
no other object has it or a pod uses it already. A port that another object has too and that no pod
uses is replaced by another one; the plan of the set that stored it later sees the other set, so at
least one of the two changes its port. A pod uses the ports that the template of its revision
requests or refers to.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from kohort.apis.rolebasedgroup.objects.ports import (
    choose_ports,
    list_port_keys,
    list_references,
    read_ports,
)
from kohort.apis.rolebasedgroup.role_facts import RoleFacts, components_of
from kohort.cluster.objects import Object, annotations_of, name_of, namespace_of

Holders = tuple[tuple[int, tuple[str, ...]], ...]  # by port, uids of the objects with it


class PortView(NamedTuple):
    """The ports of all groups and the pods of this group, as the caches have them."""

    holders: Holders = ()
    revisions: tuple[tuple[str, str], ...] = ()  # roles that have pods, with the pods' hashes


NO_PORTS = PortView()


def give_ports(
    roles: Mapping[str, RoleFacts], sets: Mapping[str, Object], view: PortView = NO_PORTS
) -> dict[str, RoleFacts]:
    """The roles with a port for each request, and with the keys of those that are settled."""
    told = {use for role, short in view.revisions for use in _list_told(roles, role, short)}
    chosen: set[int] = set()
    found = {}
    for name, role in roles.items():
        given = _give(role, sets.get(role.set_name), view, told, chosen)
        chosen |= set(given.ports.values())
        found[name] = given
    return found


def _give(
    role: RoleFacts,
    held: Object | None,
    view: PortView,
    told: Collection[tuple[str, str]],
    chosen: Collection[int],
) -> RoleFacts:
    """One role with its ports: ``told`` are keys that pods use, ``chosen`` other roles' ports."""
    keys = _list_requests(role.instance_set)
    if not keys:
        return role
    stored = read_ports(annotations_of(held or {}), keys) if role.set_uid else {}
    foreign = {port for port, uids in view.holders if any(uid != role.set_uid for uid in uids)}
    kept = {
        key: port
        for key, port in stored.items()
        if port not in foreign or (role.spec.name, key) in told
    }
    # Two sets that lose the same port search from different places, or they would choose alike.
    lost = "".join(f"/{stored[key]}" for key in sorted(stored.keys() - kept.keys()))
    owner = f"{namespace_of(role.instance_set)}/{role.set_name}{lost}"
    taken = {*foreign, *chosen, *stored.values()}
    ports = kept | choose_ports([key for key in keys if key not in kept], taken, owner=owner)
    notes = annotations_of(role.instance_set) | {k: str(port) for k, port in ports.items()}
    metadata = {**role.instance_set["metadata"], "annotations": notes}
    wanted = {**role.instance_set, "metadata": metadata}
    return replace(role, instance_set=wanted, ports=ports, settled=frozenset(kept))


def are_settled(roles: Mapping[str, RoleFacts], name: str, instance: Object) -> bool:
    """Whether all role-wide ports are settled that the pods of a role's instance use."""
    own = {(name, key) for key in list_port_keys(instance).of_role}
    named = {use for use in _list_references(instance["spec"]) if _is_requested(roles, *use)}
    return all(role in roles and key in roles[role].settled for role, key in own | named)


def _is_requested(roles: Mapping[str, RoleFacts], role: str, key: str) -> bool:
    return role in roles and key in _list_requests(roles[role].instance_set)


def _list_requests(wanted: Object) -> tuple[str, ...]:
    template = wanted["spec"]["roleInstanceTemplate"]
    return list_port_keys({"metadata": wanted["metadata"], "spec": template}).of_role


def _list_references(template: Object) -> Iterator[tuple[str, str]]:
    for component in components_of(template):
        for _, role, key in list_references(component):
            yield role, key


def _list_told(roles: Mapping[str, RoleFacts], name: str, short: str) -> Iterator[tuple[str, str]]:
    """The role-wide ports that pods of a role use, by the hash of their revision."""
    role = roles.get(name)
    template = role.find_by_hash(short) if role else None
    if role is None or template is None:
        # The template of such pods is unknown: they may use any port, so none is replaced.
        for other, facts in roles.items():
            yield from ((other, key) for key in _list_requests(facts.instance_set))
        return
    own = {"metadata": {"name": name_of(role.instance_set)}, "spec": template}
    yield from ((name, key) for key in list_port_keys(own).of_role)
    yield from _list_references(template)
