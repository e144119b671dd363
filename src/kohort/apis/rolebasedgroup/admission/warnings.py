"""
Admission warnings, which kubectl prints: fields that are allowed but probably a mistake.

Each warning says what will happen and what the user should write instead.
"""

from collections.abc import Iterator

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.admission.lengths import warn_names
from kohort.apis.rolebasedgroup.admission.validation import IN_SET, as_group
from kohort.apis.rolebasedgroup.objects.ports import list_port_keys, list_unknown_ports
from kohort.apis.rolebasedgroup.roles import (
    IN_PLACE_IF_POSSIBLE,
    IN_PLACE_ONLY,
    OLD_RECREATE,
    OLD_RECREATE_POD,
    RECREATE_POD,
    STATELESS,
    RoleSpec,
    as_map,
    as_objects,
)
from kohort.apis.rolebasedgroup.spec import GroupSpec, read_spec, roles_of
from kohort.cluster.kinds import STATEFUL_SET
from kohort.cluster.objects import Object, annotations_of, labels_of

_TYPES = ("", IN_PLACE_IF_POSSIBLE, IN_PLACE_ONLY, RECREATE_POD, OLD_RECREATE_POD)
_RESERVED = (labels.GROUP_NAME, labels.GROUP_UID, labels.ROLE_NAME, labels.COMPONENT_SIZE)
_PATTERNS = ("leaderWorkerPattern", "customComponentsPattern")


def warn_group(group: Object) -> list[str]:
    """The warnings for a group as the user wrote it."""
    spec = read_spec(group)
    found = [*_warn_exclusive(spec), *_warn_gang(spec)]
    for index, (written, role) in enumerate(zip(roles_of(group), spec.roles, strict=True)):
        path = f"spec.roles[{index}]"
        found += [*_warn_rollout(path, role), *_warn_restart(path, written)]
        found += [*_warn_labels(path, role), *_warn_pattern(path, role)]
    return [*found, *_warn_ports(spec), *warn_names(group, spec)]


def warn_group_set(group_set: Object) -> list[str]:
    """The warnings for a RoleBasedGroupSet: what no group made from it could do."""
    inner = as_group(group_set)
    return list(warn_names(inner, read_spec(inner), IN_SET))


def warn_instance_set(instance_set: Object) -> list[str]:
    """The warnings for a RoleInstanceSet that a user makes by hand."""
    if labels.GROUP_NAME in labels_of(instance_set):
        return []
    notes = annotations_of(instance_set)
    found = [
        f"{key} has no effect on a RoleInstanceSet without a RoleBasedGroup: its pods are "
        f"scheduled one by one; make it a role of a group"
        for key in (labels.GANG, labels.INSTANCE_GANG)
        if notes.get(key) == "true"
    ]
    spec = as_map(instance_set.get("spec"))
    if notes.get(labels.INSTANCE_PATTERN) != STATELESS:
        found += [
            f"spec.scaleStrategy.{key} has no effect on a set whose instances have ordinals; "
            f"set the annotation {labels.INSTANCE_PATTERN}: {STATELESS}"
            for key, value in as_map(spec.get("scaleStrategy")).items()
            if value not in (None, [])
        ]
    template = as_map(spec.get("roleInstanceTemplate"))
    for index, component in enumerate(as_objects(template.get("components"))):
        if labels.GROUP_NAME in labels_of(as_map(component.get("template"))):
            path = f"spec.roleInstanceTemplate.components[{index}].template"
            found.append(f"{path}: label {labels.GROUP_NAME} is reserved; its pods do not get it")
    return found


def _warn_exclusive(spec: GroupSpec) -> Iterator[str]:
    if spec.old_exclusive_topology and not spec.exclusive_topology:
        yield (
            f"{labels.OLD_EXCLUSIVE_TOPOLOGY} is the former key; write {labels.EXCLUSIVE_TOPOLOGY}"
        )


def _warn_gang(spec: GroupSpec) -> Iterator[str]:
    if not spec.gang.is_enabled:
        return
    without = [
        role.name
        for role in spec.roles
        if not all((c.template.get("spec") or {}).get("schedulerName") for c in role.components)
    ]
    if without:
        yield (
            f"{labels.GANG} is set, but pods of {', '.join(without)} name no schedulerName: the "
            f"default scheduler places them one by one"
        )


def _warn_rollout(path: str, role: RoleSpec) -> Iterator[str]:
    if role.rollout.type not in _TYPES:
        known = ", ".join(_TYPES[1:4])
        yield (
            f"{path}.rolloutStrategy.rollingUpdate.type: {role.rollout.type!r} is none of {known} "
            f"and counts as {IN_PLACE_IF_POSSIBLE}"
        )
    if role.workload == STATEFUL_SET and role.rollout.max_surge:
        yield (
            f"{path}.rolloutStrategy.rollingUpdate.maxSurge: a StatefulSet carries this role and "
            f"makes no extra pods; it replaces one pod at a time, whatever maxUnavailable says"
        )


def _warn_restart(path: str, role: Object) -> Iterator[str]:
    for name in _PATTERNS:
        pattern = as_map(role.get(name))
        kinds = (
            as_map(pattern.get("restartPolicyConfig")).get("type"),
            pattern.get("restartPolicy"),
        )
        if OLD_RECREATE in kinds:
            yield f"{path}.{name}: {OLD_RECREATE} recreates the instance of the pod, not the group"


def _warn_labels(path: str, role: RoleSpec) -> Iterator[str]:
    for component in role.components:
        for key in _RESERVED:
            if key in labels_of(component.template):
                yield f"{path}: label {key} of a template is reserved; its pods get their own value"


def _warn_ports(spec: GroupSpec) -> Iterator[str]:
    instances = {role.name: _as_instance(role) for role in spec.roles}
    of_roles = {name: list_port_keys(held).of_role for name, held in instances.items()}
    for index, role in enumerate(spec.roles):
        for sentence in list_unknown_ports(instances[role.name], of_roles):
            yield f"spec.roles[{index}]: {sentence}, so pods are not told it"


def _as_instance(role: RoleSpec) -> Object:
    """An instance of the role, with just the fields that the check of ports reads."""
    listed = [
        {
            "name": each.name,
            "size": each.size,
            "template": each.template,
            "annotations": dict(each.annotations),
        }
        for each in role.components
    ]
    marks = {labels.ROLE_TYPE: role.pattern.value}
    return {"metadata": {"name": role.name, "labels": marks}, "spec": {"components": listed}}


def _warn_pattern(path: str, role: RoleSpec) -> Iterator[str]:
    if role.is_stateless and role.is_ordered:
        yield f"{path}.podManagementPolicy: stateless instances have no order; it is ignored"
