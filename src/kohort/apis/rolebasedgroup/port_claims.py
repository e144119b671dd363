"""
Ports in use by all groups, sets and instances of the cluster, whose pods may share a node.

A port is stored on a RoleInstance or a RoleInstanceSet, so the caches of these kinds show every
allocated port. Two plans may choose the same port before either sees the other's write. The API
server orders writes of one kind, so a cache that shows one write shows all earlier ones: of two
instances with one port, the plan of the later one sees the other instance. (Objects of groups and
objects by hand have two caches: where both choose the same port within the moment that the slower
watch is behind, both may keep it.) So the operator creates
pods of an instance only while no other instance has its port; else the instance gets another port.
No plan has to know which instance was first, and objects do not show it: each write of any client
raises the resourceVersion, and pods come by another watch. An instance that has pods keeps its
ports. The ports of a set follow the same rule, for all pods that get the port (``role_ports``).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.ports import is_port
from kohort.cluster.objects import Kind

Claims = Mapping[int, list[str]]  # the uids of the objects that hold each port


def list_claims(snapshot: Snapshot) -> Claims:
    """The objects of all groups that hold each port."""
    found: dict[int, list[str]] = defaultdict(list)
    held: Iterable[RoleInstanceFacts] = snapshot.beside.get(labels.INSTANCE, ())
    for instance in held:
        _add(found, instance.metadata)
    for instance_set in snapshot.beside.get(labels.INSTANCE_SET, ()):
        _add(found, instance_set.metadata)
    return found


def list_holders(claims: Claims) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Each port with the uids of the objects that hold it, in order."""
    return tuple((port, tuple(sorted(claims[port]))) for port in sorted(claims))


def must_yield(claims: Claims, metadata: Meta, port: int) -> bool:
    """Whether an instance that has no pod yet has to take another port."""
    return any(uid != metadata.uid for uid in claims.get(port, ()))


def find_shared(raw: bytes) -> tuple[Kind, ...]:
    """The kinds on which ports are stored, for a stored workload that asks for some."""
    return (labels.INSTANCE, labels.INSTANCE_SET) if labels.PORT_ALLOCATOR.encode() in raw else ()


def _add(found: dict[int, list[str]], metadata: Meta) -> None:
    for key, value in metadata.annotations.items():
        if is_port(key, value):
            found[int(value)].append(metadata.uid)
