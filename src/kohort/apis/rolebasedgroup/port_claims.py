"""
Ports in use by all groups of the cluster, whose pods may share a node.

A port is stored on a RoleInstance or a RoleInstanceSet, so the caches of these kinds know every
port that was given. Two plans may choose the same one before either sees the other's write. The
API server orders writes of one kind, so whoever sees its own write has seen all earlier ones: of
two instances with one port, the one that stored it later sees the other. So an instance gets pods
only while it sees no other with its port; else it takes another port. Nobody has to know who was
first, which an object cannot tell: each write of any client raises its resourceVersion, and pods
come by another watch. An instance that has pods keeps its ports. The ports of a set follow the same
rule, where the pods are all that are told the port (``role_ports``).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.objects.ports import is_port

Claims = Mapping[int, list[str]]  # the uids of the objects that hold each port


def list_claims(snapshot: Snapshot) -> Claims:
    """Who holds each port, in all groups."""
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


def mentions_ports(raw: bytes) -> bool:
    """Whether a workload, as it is stored, has a template that asks for ports."""
    return labels.PORT_ALLOCATOR.encode() in raw


def _add(found: dict[int, list[str]], metadata: Meta) -> None:
    for key, value in metadata.annotations.items():
        if is_port(key, value):
            found[int(value)].append(metadata.uid)
