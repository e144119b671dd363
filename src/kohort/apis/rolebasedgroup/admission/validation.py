"""
Validation of a RoleBasedGroup or a RoleBasedGroupSet: all errors at once.

Rules that upstream has, too, hold for every write: names, budgets that stop a rollout for ever, a
partition that leaves nothing to update, workload kinds that are switched off, and replicas that an
adapter holds. A write that only scales a role is never refused for the role's budget: an
autoscaler cannot change that budget and would fail for ever. Rules of ours (dependency cycles,
missing templates, names that collide once cut to length) refuse only what an update newly breaks,
so users can still edit older objects.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kohort.apis.amounts import find_percent, resolve_amount
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.admission.lengths import find_name
from kohort.apis.rolebasedgroup.problems import INVALID_GANG, Problem
from kohort.apis.rolebasedgroup.roles import WORKLOAD_TYPES, as_int, as_map, as_objects, given
from kohort.apis.rolebasedgroup.spec import read_spec
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.kinds import DEPLOYMENT, STATEFUL_SET
from kohort.cluster.names import check_label
from kohort.cluster.objects import Object, annotations_of, name_of

_DEPRECATED = (DEPLOYMENT, STATEFUL_SET, labels.LEADER_WORKER_SET)
_BAD_AMOUNT = "must be a whole number that is not negative, or a percentage such as 25%"
_PLAIN = "spec"
IN_SET = "spec.groupTemplate.spec"


def validate_group(
    new: Object,
    old: Object | None = None,
    adapters: Mapping[str, Object] | None = None,
    *,
    allows_deprecated: bool = True,
) -> list[FieldError]:
    """Every rule that a group breaks; ``adapters`` are those of its namespace, by name."""
    roles = _roles_of(new)
    before = {} if old is None else {str(r.get("name")): r for r in _roles_of(old)}
    found = [*_check_name(new, ""), *_check_roles(roles, _PLAIN, allows_deprecated, before)]
    if old is not None and adapters:
        found += _check_adapters(new, old, adapters)
    return [*found, *_newly(_check_own(new), None if old is None else _check_own(old))]


def validate_group_set(
    new: Object, old: Object | None = None, *, allows_deprecated: bool = True
) -> list[FieldError]:
    """Every rule that a RoleBasedGroupSet breaks, or that the groups made from it would break."""
    inner = as_group(new)
    found = [*_check_name(new, "-0"), *_check_roles(_roles_of(inner), IN_SET, allows_deprecated)]
    before = None if old is None else _check_own(as_group(old), IN_SET)
    return [*found, *_newly(_check_own(inner, IN_SET), before)]


def as_group(group_set: Object) -> Object:
    """The group that the set would create with ordinal 0, to validate it."""
    template = as_map(as_map(group_set.get("spec")).get("groupTemplate"))
    metadata = {
        "name": names.child_name(find_name(group_set), 0),
        "annotations": as_map(template.get("annotations")),
    }
    return {"metadata": metadata, "spec": as_map(template.get("spec"))}


def _newly(
    found: Iterator[FieldError], before: Iterator[FieldError] | None
) -> Iterator[FieldError]:
    known = [] if before is None else [error.text() for error in before]
    return (error for error in found if error.text() not in known)


def _roles_of(group: Object) -> list[Object]:
    return as_objects(as_map(group.get("spec")).get("roles"))


def _check_name(obj: Object, suffix: str) -> Iterator[FieldError]:
    name = find_name(obj)
    for why in check_label(f"{name}{suffix}"):
        yield FieldError(FieldErrorType.INVALID, "metadata.name", why, name)


def _check_roles(
    roles: list[Object],
    spec: str,
    allows_deprecated: bool,
    before: Mapping[str, Object] | None = None,
) -> Iterator[FieldError]:
    for index, role in enumerate(roles):
        path = f"{spec}.roles[{index}]"
        yield from _check_workload(role, path, allows_deprecated)
        rolling = as_map(role.get("rolloutStrategy")).get("rollingUpdate")
        replicas = as_int(role.get("replicas"), 1)
        held = as_map((before or {}).get(str(role.get("name"))))
        is_scaled = rolling == as_map(held.get("rolloutStrategy")).get("rollingUpdate")
        if isinstance(rolling, dict) and replicas > 0 and not is_scaled:
            yield from check_rollout(rolling, replicas, f"{path}.rolloutStrategy.rollingUpdate")


def _check_workload(role: Object, path: str, allows_deprecated: bool) -> Iterator[FieldError]:
    named = as_map(role.get("annotations")).get(labels.WORKLOAD_TYPE)
    if not named:
        return
    kind, where = WORKLOAD_TYPES.get(str(named)), f"{path}.annotations[{labels.WORKLOAD_TYPE}]"
    if kind is None:
        known = ", ".join(f'"{name}"' for name in WORKLOAD_TYPES)
        supported = f"supported values: {known}"
        yield FieldError(FieldErrorType.NOT_SUPPORTED, where, supported, named)
    elif kind in _DEPRECATED and not allows_deprecated:
        why = f"workload type {named} is deprecated and switched off; remove the annotation"
        yield FieldError(FieldErrorType.FORBIDDEN, where, why)


def check_rollout(rolling: Object, replicas: int, path: str) -> Iterator[FieldError]:
    """Errors in ``maxSurge``, ``maxUnavailable`` and ``partition`` of a rollout."""
    values = {
        "maxSurge": given(rolling.get("maxSurge"), 0),
        "maxUnavailable": given(rolling.get("maxUnavailable"), 1),
        "partition": given(rolling.get("partition"), 0),
    }
    bad = {field: value for field, value in values.items() if not is_amount(value)}
    for field, value in bad.items():
        yield FieldError(FieldErrorType.INVALID, f"{path}.{field}", _BAD_AMOUNT, value)
    if bad:
        return
    surge = resolve_amount(values["maxSurge"], replicas, round_up=True)
    unavailable = resolve_amount(values["maxUnavailable"], replicas, round_up=False)
    if surge == 0 and unavailable == 0:
        why = f"may not be 0 of {replicas} replicas when maxSurge is 0: nothing could be updated"
        value = values["maxUnavailable"]
        yield FieldError(FieldErrorType.INVALID, f"{path}.maxUnavailable", why, value)
    if resolve_amount(values["partition"], replicas, round_up=True) >= replicas:
        why = f"must be less than the {replicas} replicas of the role"
        yield FieldError(FieldErrorType.INVALID, f"{path}.partition", why, values["partition"])


def is_amount(value: Any) -> bool:
    """Whether a value is a number or a percentage."""
    if isinstance(value, str):
        return find_percent(value) is not None
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _check_adapters(
    new: Object, old: Object, adapters: Mapping[str, Object]
) -> Iterator[FieldError]:
    before = {role.get("name"): as_int(role.get("replicas"), 1) for role in _roles_of(old)}
    for index, role in enumerate(_roles_of(new)):
        name, replicas = str(role.get("name")), as_int(role.get("replicas"), 1)
        if before.get(name) in (None, replicas):
            continue
        if as_map(role.get("scalingAdapter")).get("enable") is not True:
            continue
        adapter = names.adapter_name(name_of(new), name)
        wanted = as_map(as_map(adapters.get(adapter)).get("spec")).get("replicas")
        if isinstance(wanted, int) and wanted != replicas:
            why = (
                f"the scaling adapter {adapter} holds {wanted} replicas: scale the adapter, or "
                f"disable it for this role"
            )
            yield FieldError(FieldErrorType.INVALID, f"spec.roles[{index}].replicas", why, replicas)


def _check_own(group: Object, path: str = _PLAIN) -> Iterator[FieldError]:
    places = {str(role.get("name")): index for index, role in enumerate(_roles_of(group))}
    notes = annotations_of(group)
    for problem in read_spec(group).all_problems:
        if problem.message.startswith("unsupported workload type"):
            continue  # every write is checked for this above
        yield _write(problem, places, path, notes)
    for index, role in enumerate(_roles_of(group)):
        for why in names.check_role_name(str(role.get("name")), _has_dots(role)):
            yield FieldError(
                FieldErrorType.INVALID, f"{path}.roles[{index}].name", why, role["name"]
            )
    for name in names.list_collisions(name_of(group), places):
        why = "after the cut to 63 characters, several roles would have objects of this name"
        yield FieldError(FieldErrorType.DUPLICATE, f"{path}.roles", why, name)


def _has_dots(role: Object) -> bool:
    """Whether the name of a role may have dots: a Deployment has no Service named after it."""
    named = as_map(role.get("annotations")).get(labels.WORKLOAD_TYPE)
    return WORKLOAD_TYPES.get(str(named)) == DEPLOYMENT


def _write(
    problem: Problem, places: Mapping[str, int], path: str, notes: Mapping[str, str]
) -> FieldError:
    if problem.reason == INVALID_GANG:
        where, value = f"metadata.annotations[{labels.GANG}]", notes.get(labels.GANG)
        return FieldError(FieldErrorType.INVALID, where, problem.message, value)
    if problem.role in places:
        where = f"{path}.roles[{places[problem.role]}]"
        return FieldError(FieldErrorType.INVALID, where, problem.message, problem.role)
    first, _, rest = problem.message.partition(": ")
    if first.startswith("spec.") and rest:
        where = first.replace(_PLAIN, path, 1)
        return FieldError(FieldErrorType.INVALID, where, rest, "")
    return FieldError(FieldErrorType.INVALID, f"{path}.roles", problem.message, sorted(places))
