"""
Adoption of orphaned children by a RoleBasedGroup, before the plan does anything else.

``kubectl delete --cascade=orphan`` of a group leaves its sets, its revisions and its ConfigMap; of
a RoleInstanceSet it leaves the instances and revisions, of a RoleInstance its pods. The new owner
adopts an object without a controller that bears a child's labels and name: pods keep serving and
names become usable.
"""

from collections.abc import Iterable, Iterator, Mapping

from kohort.apis.api import Snapshot
from kohort.apis.drift.restores import adopt
from kohort.apis.facts import Meta
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.instance_facts import RoleInstanceFacts
from kohort.apis.rolebasedgroup.pod_facts import RolePod
from kohort.apis.rolebasedgroup.role_facts import GroupFacts, RoleFacts
from kohort.cluster.actions import Action
from kohort.cluster.kinds import CONFIG_MAP, CONTROLLER_REVISION, POD
from kohort.cluster.objects import Object, name_of


def adopt_objects(snapshot: Snapshot, facts: GroupFacts) -> Iterator[Action]:
    """Adopt every orphan that has the labels and the name of a child of the group."""
    group = snapshot.root
    for context in facts.contexts:
        kind = context.role.workload
        for found in snapshot.all(kind) if kind else ():
            is_called_so = found.metadata.name == context.workload_name
            if kind and is_called_so and _is_named(group, found.metadata):
                yield from adopt(group, kind, found.metadata)
    for stored in snapshot.all(CONTROLLER_REVISION):
        is_own = labels.GROUP_REVISION in stored.metadata.labels
        if is_own and _is_named(group, stored.metadata):
            yield from adopt(group, CONTROLLER_REVISION, stored.metadata)
    for config in snapshot.all(CONFIG_MAP):
        if config.metadata.name == names.config_name(name_of(group)):
            yield from adopt(group, CONFIG_MAP, config.metadata)
    for role in facts.roles.values():
        if role.set_uid:
            yield from _adopt_by_set(snapshot, role)


def _adopt_by_set(snapshot: Snapshot, role: RoleFacts) -> Iterator[Action]:
    owner = {**role.instance_set, "metadata": {"name": role.set_name, "uid": role.set_uid}}
    for kind in (labels.INSTANCE, CONTROLLER_REVISION):
        for found in snapshot.all(kind):
            metadata: Meta = found.metadata
            is_own = metadata.labels.get(labels.ROLE_NAME) == role.spec.name
            is_called_so = metadata.name.startswith(f"{role.set_name}-")
            if is_own and is_called_so and _is_named(snapshot.root, metadata):
                yield from adopt(owner, kind, metadata)


def adopt_pods(
    instances: Iterable[RoleInstanceFacts], orphans: Mapping[str, RolePod]
) -> Iterator[Action]:
    """Adopt the pods that earlier instances of these names left behind; ``orphans`` by name."""
    for instance in instances:
        for place in instance.places:
            pod = orphans.get(place.name)
            marks = pod.metadata.labels if pod else {}
            is_own = marks.get(labels.INSTANCE_NAME) == instance.metadata.name
            if pod and is_own and marks.get(labels.COMPONENT_NAME) == place.component:
                yield from adopt(_as_owner(instance), POD, pod.metadata)


def _as_owner(instance: RoleInstanceFacts) -> Object:
    metadata = {"name": instance.metadata.name, "uid": instance.metadata.uid}
    kind = labels.INSTANCE
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata}


def _is_named(group: Object, found: Meta) -> bool:
    return found.labels.get(labels.GROUP_NAME) == name_of(group)
