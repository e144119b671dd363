"""
The target nodes of a warm-up, and the actions on each node.

A warm-up of a group targets the nodes that run pods of its roles now; one pod does the actions of
several roles on a node. Of two volumes with one name, that of the role whose name sorts first
counts, and the status says so. Two different containers with one name get the role's name added.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kohort.apis.facts import NodeFacts, PodFacts
from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import as_list, as_map, as_objects, as_texts
from kohort.cluster.objects import Object


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions on a node: images to pull, containers to run, volumes."""

    images: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    containers: tuple[Object, ...] = ()
    volumes: tuple[Object, ...] = ()


@dataclass(frozen=True, slots=True)
class Targets:
    """The target nodes of a warm-up in order, with the actions on each."""

    actions: Mapping[str, Actions]
    conflicts: tuple[str, ...] = ()  # a sentence for each volume name with two definitions
    missing: tuple[str, ...] = ()  # nodes that the user named and that do not exist


def find_group(warmup: Object) -> str:
    """The name of the group whose nodes to warm; empty if the user names nodes directly."""
    target = as_map(as_map(warmup.get("spec")).get("targetRoleBasedGroup"))
    return str(target.get("name") or "")


def find_targets(warmup: Object, nodes: Iterable[NodeFacts], pods: Iterable[PodFacts]) -> Targets:
    """The target nodes of a warm-up, among the nodes and pods of the snapshot."""
    spec = as_map(warmup.get("spec"))
    if find_group(warmup):
        return _find_group_nodes(as_map(spec.get("targetRoleBasedGroup")), pods)
    target = as_map(spec.get("targetNodes"))
    actions, known = read_actions(target), {node.metadata.name: node for node in nodes}
    named = [str(name) for name in as_list(target.get("nodeNames"))]
    if named:
        found = [name for name in dict.fromkeys(named) if name in known]
        missing = tuple(name for name in dict.fromkeys(named) if name not in known)
        return Targets(dict.fromkeys(found, actions), missing=missing)
    wanted = as_texts(target.get("nodeSelector")).items()
    found = sorted(n for n, node in known.items() if wanted <= node.metadata.labels.items())
    return Targets(dict.fromkeys(found if wanted else (), actions))


def read_actions(written: Object) -> Actions:
    """Read the actions from a warm-up's spec."""
    preload, custom = as_map(written.get("imagePreload")), as_map(written.get("customizedAction"))
    secrets = (str(each.get("name")) for each in as_objects(preload.get("pullSecrets")))
    return Actions(
        tuple(dict.fromkeys(str(image) for image in as_list(preload.get("images")))),
        tuple(dict.fromkeys(secrets)),
        tuple(as_objects(custom.get("containers"))),
        tuple(as_objects(custom.get("volumes"))),
    )


def _find_group_nodes(target: Object, pods: Iterable[PodFacts]) -> Targets:
    roles = {name: read_actions(as_map(own)) for name, own in as_map(target.get("roles")).items()}
    by_node: dict[str, set[str]] = {}
    for pod in pods:
        role = pod.metadata.labels.get(labels.ROLE_NAME, "")
        if role in roles and pod.spec.node_name and not pod.has_ended:
            by_node.setdefault(pod.spec.node_name, set()).add(role)
    conflicts: dict[str, None] = {}
    merged = {}
    for node in sorted(by_node):
        merged[node], found = merge_actions({name: roles[name] for name in sorted(by_node[node])})
        conflicts |= dict.fromkeys(found)
    return Targets(merged, tuple(conflicts))


def merge_actions(roles: Mapping[str, Actions]) -> tuple[Actions, tuple[str, ...]]:
    """Join the actions of several roles on one node; also returns conflicting volumes."""
    joined, conflicts = Actions(), []
    for role, own in roles.items():
        held = {str(volume.get("name")): volume for volume in joined.volumes}
        new = [volume for volume in own.volumes if str(volume.get("name")) not in held]
        conflicts += [
            f'volume "{volume.get("name")}" of role {role} differs from that of another role'
            for volume in own.volumes
            if held.get(str(volume.get("name")), volume) != volume
        ]
        joined = replace(
            joined,
            images=tuple(dict.fromkeys((*joined.images, *own.images))),
            secrets=tuple(dict.fromkeys((*joined.secrets, *own.secrets))),
            containers=_join_containers(joined.containers, own.containers, role),
            volumes=(*joined.volumes, *new),
        )
    return joined, tuple(conflicts)


def _join_containers(
    held: tuple[Object, ...], new: tuple[Object, ...], role: str
) -> tuple[Object, ...]:
    names = {str(container.get("name")) for container in held}
    joined = list(held)
    for container in new:
        if container in held:
            continue
        name = str(container.get("name"))
        joined.append({**container, "name": f"{role}-{name}"} if name in names else container)
    return tuple(joined)
