"""
The pod templates of a role, as its RoleInstanceSet holds them.

The order of additions is upstream's: config volume, runtime profiles, variables, exclusive
affinity, gang, labels. We write templates as Go does, so that equal templates compare as equal.

Two styles exist. Ours adds labels and variables of former versions, an optional config volume and
the former key of exclusive topology. A template that upstream made keeps upstream's style while
its set lives: added variables would restart every pod and rule out in-place updates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from kohort.apis.affinity import add_exclusive_terms
from kohort.apis.gangs.dialects.coscheduling import POD_GROUP_LABEL
from kohort.apis.gojson import POD_TEMPLATE, drop_nulls
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.runtimes import inject_runtimes
from kohort.apis.rolebasedgroup.objects.variables import (
    list_pattern_variables,
    list_variables,
    merge_variables,
)
from kohort.apis.rolebasedgroup.roles import (
    WORKER,
    ComponentSpec,
    Pattern,
    RoleSpec,
    as_map,
    as_objects,
)
from kohort.apis.rolebasedgroup.spec import GroupSpec
from kohort.apis.rolebasedgroup.types import write_typed
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of, namespace_of

CONFIG_VOLUME, CONFIG_PATH, CONFIG_FILE = "rbg-cluster-config", "/etc/rbg", "config.yaml"
SCHEDULER_PLUGINS, VOLCANO = "scheduler-plugins", "volcano"


@dataclass(frozen=True, slots=True)
class RoleContext:
    """The inputs from which all objects of one role are made."""

    group: Object
    spec: GroupSpec
    role: RoleSpec
    profiles: Mapping[str, Object] = field(default_factory=dict)  # by name
    gang_scheduler: str = ""  # scheduler-plugins or volcano, if gangs are on
    is_ours: bool = True  # false: upstream made the set, so we keep its style
    has_former_service: bool = False  # the Service has the name that former versions gave it

    @property
    def workload_name(self) -> str:
        """The role's RoleInstanceSet."""
        return names.workload_name(name_of(self.group), self.role.name)

    @property
    def service_name(self) -> str:
        """The role's headless Service."""
        if self.has_former_service:
            return self.workload_name
        return names.service_name(name_of(self.group), self.role.name)

    @property
    def group_hash(self) -> str:
        """The label value that is unique to the group in the cluster."""
        return names.group_hash(namespace_of(self.group), name_of(self.group))

    @property
    def common_labels(self) -> dict[str, str]:
        """The labels that select all objects of the role."""
        return {
            labels.GROUP_NAME: name_of(self.group),
            labels.GROUP_UID: self.group_hash,
            labels.ROLE_NAME: self.role.name,
        }

    @property
    def topology(self) -> str:
        """The node label whose domain the group has alone; the former key only in our style."""
        old = self.spec.old_exclusive_topology if self.is_ours else ""
        return self.spec.exclusive_topology or old


def is_made_by_us(instance_set: Object | None) -> bool:
    """Whether a set is new or a template of it has our labels; else upstream made it."""
    if instance_set is None:
        return True
    template = as_map(as_map(instance_set.get("spec")).get("roleInstanceTemplate"))
    listed = as_objects(template.get("components"))
    return not listed or any(
        labels.OLD_NAME in labels_of(as_map(each.get("template"))) for each in listed
    )


def find_gang_mark(instance_set: Object) -> str:
    """The scheduler whose gang marks a set's templates have; empty if they have none."""
    template = as_map(as_map(instance_set.get("spec")).get("roleInstanceTemplate"))
    for component in as_objects(template.get("components")):
        held = as_map(component.get("template"))
        if labels.GANG_LABEL in labels_of(held):
            return SCHEDULER_PLUGINS
        if labels.GANG_NAME in annotations_of(held):
            return VOLCANO
    return ""


def make_component(context: RoleContext, component: ComponentSpec) -> Object:
    """One component of a RoleInstanceSet's template."""
    made: Object = {"name": component.name, "size": component.size}
    service = find_service(context, component)
    if service:
        made["serviceName"] = service
    if component.labels:
        made["labels"] = dict(component.labels)
    if component.annotations:
        made["annotations"] = dict(component.annotations)
    made["template"] = make_template(context, component)
    return made


def find_service(context: RoleContext, component: ComponentSpec) -> str:
    """The Service for a component's pod DNS names; workers have it only if it selects them."""
    if component.service_name:
        return component.service_name
    is_worker = context.role.pattern is Pattern.LEADER_WORKER and component.name == WORKER
    return "" if is_worker and context.role.selects_leader else context.service_name


def make_template(context: RoleContext, component: ComponentSpec) -> Object:
    """The pod template of one component."""
    given: Object = orjson.loads(orjson.dumps(component.template))
    pod = as_map(given.get("spec"))
    if context.role.has_ordinals:
        pod = _mount_config(pod, context)
    if component.name != WORKER or context.role.pattern is not Pattern.LEADER_WORKER:
        pod = inject_runtimes(pod, context.role, context.profiles, context.is_ours)
    pod = _add_variables(pod, context)
    notes = {**annotations_of(given), **component.annotations}
    marks = {**labels_of(given), **component.labels}
    if context.topology and not _is_disabled(notes):
        value = context.group_hash
        terms = add_exclusive_terms(pod.get("affinity"), context.topology, labels.GROUP_HASH, value)
        pod = {**pod, "affinity": terms}
        marks[labels.GROUP_HASH] = value
        notes[labels.EXCLUSIVE_TOPOLOGY] = context.topology
    if context.gang_scheduler == SCHEDULER_PLUGINS:
        marks[labels.GANG_LABEL] = name_of(context.group)
        if context.is_ours:
            marks[POD_GROUP_LABEL] = name_of(context.group)
    if context.gang_scheduler == VOLCANO:
        notes[labels.GANG_NAME] = name_of(context.group)
    marks |= _list_marks(context, component)
    metadata = {**as_map(given.get("metadata")), "labels": marks, "annotations": notes}
    written = write_typed(POD_TEMPLATE, {**given, "metadata": metadata, "spec": pod})
    made: Object = drop_nulls(written)
    return made


def _list_marks(context: RoleContext, component: ComponentSpec) -> dict[str, str]:
    role, marks = context.role, context.common_labels
    if role.workload == labels.INSTANCE_SET:
        is_pair = role.pattern is Pattern.LEADER_WORKER
        marks[labels.COMPONENT_SIZE] = str(role.size if is_pair else component.size)
        if is_pair:
            marks[labels.COMPONENT_NAME] = component.name
    if context.is_ours:
        marks |= {labels.OLD_NAME: name_of(context.group), labels.OLD_ROLE: role.name}
    return marks


def _is_disabled(notes: Mapping[str, str]) -> bool:
    return bool(notes.get(labels.DISABLE_EXCLUSIVE) or notes.get(labels.OLD_DISABLE_EXCLUSIVE))


def _mount_config(pod: Object, context: RoleContext) -> Object:
    volumes = as_objects(pod.get("volumes"))
    if any(volume.get("name") == CONFIG_VOLUME for volume in volumes):
        return pod
    source: Object = {
        "name": names.config_name(name_of(context.group)),
        "items": [{"key": CONFIG_FILE, "path": CONFIG_FILE}],
    }
    if context.is_ours:
        # Optional, so that pods start even if a client deleted the ConfigMap.
        source["optional"] = True
    containers = [_mount(container) for container in as_objects(pod.get("containers"))]
    volume = {"name": CONFIG_VOLUME, "configMap": source}
    return {**pod, "volumes": [*volumes, volume], "containers": containers}


def _mount(container: Object) -> Object:
    mounts = as_objects(container.get("volumeMounts"))
    if any(mount.get("mountPath") == CONFIG_PATH for mount in mounts):
        return container
    added = {"name": CONFIG_VOLUME, "mountPath": CONFIG_PATH, "readOnly": True}
    return {**container, "volumeMounts": [*mounts, added]}


def _add_variables(pod: Object, context: RoleContext) -> Object:
    group, role = context.group, context.role
    common = list_variables(name_of(group), role)
    pattern = list_pattern_variables(role, context.service_name, namespace_of(group))
    containers = [
        {
            **container,
            "env": merge_variables(
                as_objects(container.get("env")), common, pattern, context.is_ours
            ),
        }
        for container in as_objects(pod.get("containers"))
    ]
    return {**pod, "containers": containers}
