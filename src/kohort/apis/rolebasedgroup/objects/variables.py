"""
Environment variables of a role's containers, in upstream's order.

First variables of ours that the container has already, then those that we add, sorted by name, then
those of leader and workers, then the user's. Our value wins over the user's. Last come names of
former versions, where the user's value wins: they are everyday words such as ``GROUP_NAME``. No
variable holds a count of replicas, since scaling would then roll every pod.
"""

from collections.abc import Mapping, Sequence

from kohort.apis.rolebasedgroup import labels
from kohort.apis.rolebasedgroup.roles import Pattern, RoleSpec
from kohort.cluster.objects import Object


def list_variables(group: str, role: RoleSpec) -> list[Object]:
    """The variables that every container of a role gets, sorted by name."""
    values = [
        _literal(labels.GROUP_NAME_VARIABLE, group),
        _literal(labels.ROLE_NAME_VARIABLE, role.name),
    ]
    if role.has_ordinals:
        on_set = role.workload == labels.INSTANCE_SET
        index = labels.INSTANCE_INDEX if on_set else labels.POD_INDEX
        values.append(_reference(labels.ROLE_INDEX_VARIABLE, index))
    if role.workload == labels.INSTANCE_SET:
        values += [
            _reference(labels.INSTANCE_NAME_VARIABLE, labels.INSTANCE_NAME),
            _reference(labels.COMPONENT_NAME_VARIABLE, labels.COMPONENT_NAME),
            _reference(labels.COMPONENT_INDEX_VARIABLE, labels.COMPONENT_ID),
        ]
    return sorted(values, key=lambda variable: str(variable["name"]))


def list_pattern_variables(role: RoleSpec, service: str, namespace: str) -> list[Object]:
    """The variables that leaders and workers get besides, in upstream's order."""
    if role.pattern is not Pattern.LEADER_WORKER or role.workload != labels.INSTANCE_SET:
        return []
    address = f"$({labels.INSTANCE_NAME_VARIABLE})-0.{service}.{namespace}"
    return [
        _literal(labels.LEADER_ADDRESS_VARIABLE, address),
        _reference(labels.WORKER_INDEX_VARIABLE, labels.COMPONENT_INDEX),
        _reference(labels.GROUP_SIZE_VARIABLE, labels.COMPONENT_SIZE),
    ]


def merge_variables(
    given: Sequence[Object], common: Sequence[Object], pattern: Sequence[Object], adds_old: bool
) -> list[Object]:
    """The variables of one container; of two with one name, the last wins."""
    ours = [*common, *pattern]
    set_by_us = {variable["name"] for variable in ours}
    kept = {v.get("name"): v for v in given if v.get("name") not in set_by_us}
    before = [v for name, v in kept.items() if _is_ours(name) and not _is_of_pattern(name)]
    between = [v for name, v in kept.items() if _is_of_pattern(name)]
    after = [v for name, v in kept.items() if not _is_ours(name)]
    old = _list_old(ours, kept) if adds_old else []
    return [*before, *common, *pattern, *between, *old, *after]


def _list_old(ours: Sequence[Object], kept: Mapping[object, Object]) -> list[Object]:
    by_name = {variable["name"]: variable for variable in ours}
    return [
        {**by_name[now], "name": old}
        for old, now in labels.OLD_VARIABLES.items()
        if now in by_name and old not in kept
    ]


def _is_ours(name: object) -> bool:
    return isinstance(name, str) and name.startswith(labels.VARIABLE_PREFIX)


def _is_of_pattern(name: object) -> bool:
    return isinstance(name, str) and name.startswith(labels.PATTERN_PREFIX)


def _literal(name: str, value: str) -> Object:
    return {"name": name, "value": value}


def _reference(name: str, label: str) -> Object:
    path = f"metadata.labels['{label}']"
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
