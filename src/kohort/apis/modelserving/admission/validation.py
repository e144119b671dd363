"""
All errors of a ModelServing at once, in upstream's words.

Upstream's own rules hold for every write, except that a count of zero is allowed: none of zero
groups can be unavailable, and autoscalers scale to zero (kthena#1019). Rules that are ours alone
hold only for what an update newly breaks: an object of another controller stays editable.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from kohort.apis.amounts import find_percent, resolve_amount
from kohort.apis.gangs.dialect import NONE
from kohort.apis.min_ready import RULE, find_min_ready
from kohort.apis.modelserving import labels, names
from kohort.apis.modelserving.plugins.chain import check_plugin
from kohort.apis.modelserving.plugins.plugin import Registry
from kohort.apis.modelserving.spec import (
    GROUP_RECREATE,
    GROUP_ROLLING,
    ROLE_RECREATE,
    ROLE_ROLLING,
    ServingSpec,
    find_excess,
    read_spec,
    roles_of,
)
from kohort.apis.topology import find_faults
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.names import check_dns_1035
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import Object, annotations_of, metadata_of

_ROLES = "spec.template.roles"
_ROLLING = "spec.rolloutStrategy.rollingUpdateConfiguration"
_MINIMUM = "spec.template.gangPolicy.minRoleReplicas"
_TOPOLOGY = "spec.template.networkTopology"
_NOTES = "metadata.annotations"
_GENERATED_SUFFIX = "00000"
_BAD_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_BAD_ROLE_NAME = (
    "role name must be a valid DNS-1035 label (lowercase alphanumeric characters or '-', "
    "must start with a letter)"
)


def validate_serving(
    new: Object, old: Object | None, registry: Registry, dialects: Sequence[str] = ()
) -> list[FieldError]:
    """The rules that an object breaks; on update, of our own rules only those newly broken."""
    before = [] if old is None else list(_check_own(old, registry, dialects))
    own = [error for error in _check_own(new, registry, dialects) if error not in before]
    return [*_check_upstream(new), *own]


def write_refusal(errors: Sequence[FieldError]) -> str:
    """The text of a refusal as upstream writes it; empty without errors."""
    if not errors:
        return ""
    return "\n".join(["validation failed:", *(f"  - {error}" for error in errors)])


def check_namesake(new: Object, namesake: Object | None) -> list[FieldError]:
    """Refuse an object whose name exists in the other API group: their pods would collide."""
    if namesake is None:
        return []
    why = (
        f"a ModelServing of this name exists in {namesake.get('apiVersion')}, and their pods would "
        "have the same names: delete that one, or choose another name"
    )
    name = metadata_of(new).get("name", "")
    return [FieldError(FieldErrorType.INVALID, "metadata.name", why, name)]


def _check_upstream(serving: Object) -> Iterator[FieldError]:
    spec, roles = read_spec(serving), roles_of(serving)
    yield from _check_names(serving, spec)
    yield from _check_role_names(spec)
    yield from _check_images(roles)
    yield from _check_replicas(serving, roles)
    yield from _check_rollout(serving, spec)
    yield from _check_role_rollouts(spec, roles)
    yield from _check_gang(spec)
    yield from _check_workers(roles)
    yield from _check_pair(spec)


def _check_own(
    serving: Object, registry: Registry, dialects: Sequence[str]
) -> Iterator[FieldError]:
    spec = read_spec(serving)
    if excess := find_excess(spec):
        yield _invalid("spec.replicas", spec.replicas, excess)
    for index, plugin in enumerate(spec.plugins):
        is_known = plugin.name in registry
        field, value = ("config", plugin.config) if is_known else ("name", plugin.name)
        for fault in check_plugin(plugin, spec, registry):
            yield _invalid(f"spec.plugins[{index}].{field}", value, str(fault))
    policies = {"groupPolicy": spec.group_topology, "rolePolicy": spec.role_topology}
    for name, policy in policies.items():
        for field, value, why in find_faults(policy) if policy is not None else ():
            yield _invalid(f"{_TOPOLOGY}.{name}.{field}".rstrip("."), value, why)
    surge = annotations_of(serving).get(labels.MAX_SURGE)
    if surge is not None and not _is_amount(surge):
        why = 'must be a number of groups or a percentage, such as "1" or "25%"'
        yield _invalid(f"{_NOTES}.{labels.MAX_SURGE}", surge, why)
    if find_min_ready(serving) is None:
        said = annotations_of(serving)[labels.MIN_READY_SECONDS]
        yield _invalid(f"{_NOTES}.{labels.MIN_READY_SECONDS}", said, RULE)
    gang = annotations_of(serving).get(labels.GANG, "")
    if gang and dialects and gang not in (*dialects, NONE):
        known = ", ".join(f'"{name}"' for name in (*dialects, NONE))
        path = f"{_NOTES}.{labels.GANG}"
        yield FieldError(FieldErrorType.NOT_SUPPORTED, path, f"supported values: {known}", gang)


def _is_amount(text: str) -> bool:
    percent = find_percent(text)
    return find_count(text) is not None if percent is None else percent <= 100


def _check_names(serving: Object, spec: ServingSpec) -> Iterator[FieldError]:
    metadata = metadata_of(serving)
    name = metadata.get("name") or metadata.get("generateName", "") + _GENERATED_SUFFIX
    for role in spec.roles:
        longest = names.longest_name(name, spec.replicas, role.name, role.replicas, role.workers)
        problems = check_dns_1035(longest)
        if problems:
            yield _invalid("metadata.name", name, f"invalid name: {'; '.join(problems)}")


def _check_role_names(spec: ServingSpec) -> Iterator[FieldError]:
    for index, role in enumerate(spec.roles):
        problems = check_dns_1035(role.name)
        if problems:
            why = f"{_BAD_ROLE_NAME}: {'; '.join(problems)}"
            yield _invalid(f"{_ROLES}[{index}].name", role.name, why)


def _check_images(roles: Sequence[Object]) -> Iterator[FieldError]:
    for index, role in enumerate(roles):
        for field in ("entryTemplate", "workerTemplate"):
            spec: Object = (role.get(field) or {}).get("spec") or {}
            for place, container in enumerate(spec.get("containers") or ()):
                image = container.get("image") or ""
                why = _find_image_fault(image)
                if why:
                    path = f"{_ROLES}[{index}].{field}.spec.containers[{place}].image"
                    yield _invalid(path, image, f"invalid container image reference: {why}")


def _find_image_fault(image: str) -> str:
    if image and not image.strip():
        return "image cannot be empty or whitespace only"
    return "image cannot contain spaces" if " " in image else ""


def _check_replicas(serving: Object, roles: Sequence[Object]) -> Iterator[FieldError]:
    replicas = (serving.get("spec") or {}).get("replicas")
    if replicas is not None and replicas < 0:
        yield _invalid("spec.replicas", replicas, "replicas must be a non-negative integer")
    if not roles:
        yield _invalid(_ROLES, [], "roles must be specified")
    for index, role in enumerate(roles):
        count = role.get("replicas")
        if count is not None and count < 0:
            why = "role replicas must be a non-negative integer"
            yield _invalid(f"{_ROLES}[{index}].replicas", count, why)


def _check_rollout(serving: Object, spec: ServingSpec) -> Iterator[FieldError]:
    strategy: Object = (serving.get("spec") or {}).get("rolloutStrategy") or {}
    rolling = strategy.get("rollingUpdateConfiguration")
    if rolling is None:
        return
    if spec.rollout == ROLE_ROLLING:
        why = (
            f"rollingUpdateConfiguration is only valid when rolloutStrategy.type is {GROUP_ROLLING}"
        )
        yield FieldError(FieldErrorType.FORBIDDEN, _ROLLING, why)
        return
    for field in ("maxUnavailable", "partition", "maxSurge"):
        yield from _check_amount(f"{_ROLLING}.{field}", rolling.get(field))
    is_stuck = spec.max_unavailable == 0 and not spec.max_surge
    if rolling.get("maxUnavailable") is not None and is_stuck and spec.replicas > 0:
        yield _invalid(_ROLLING, "", "maxUnavailable cannot be 0")


def _check_role_rollouts(spec: ServingSpec, roles: Sequence[Object]) -> Iterator[FieldError]:
    for index, role in enumerate(roles):
        path, partition = f"{_ROLES}[{index}]", role.get("partition")
        yield from _check_amount(f"{path}.partition", partition)
        if partition is not None and spec.rollout != ROLE_ROLLING:
            why = f"partition is only valid when rolloutStrategy.type is {ROLE_ROLLING}"
            yield FieldError(FieldErrorType.FORBIDDEN, f"{path}.partition", why)
        if spec.rollout == ROLE_ROLLING:
            count = spec.roles[index].replicas
            yield from _check_role_budget(f"{path}.maxUnavailable", role, count)


def _check_role_budget(path: str, role: Object, replicas: int) -> Iterator[FieldError]:
    value = role.get("maxUnavailable")
    if value is None:
        return
    yield from _check_amount(path, value)
    amount = resolve_amount(value, replicas, round_up=False)
    if amount == 0 and replicas > 0:
        yield _invalid(path, value, "maxUnavailable cannot be 0")
    elif amount > replicas > 0:
        yield _invalid(path, value, f"maxUnavailable cannot be greater than replicas ({replicas})")


def _check_amount(path: str, value: Any) -> Iterator[FieldError]:
    if isinstance(value, str):
        percent = find_percent(value)
        if percent is None:
            yield _invalid(path, value, _BAD_PERCENT)
        elif percent > 100:
            yield _invalid(path, value, "must be a valid percent value (0-100)")
    elif value is not None and value < 0:
        yield _invalid(path, value, "must be a non-negative integer")


def _check_gang(spec: ServingSpec) -> Iterator[FieldError]:
    for name, minimum in sorted(spec.min_role_replicas.items()):
        path, role = f"{_MINIMUM}[{name}]", spec.find_role(name)
        if role is None:
            yield _invalid(path, name, f"role {name} does not exist in template.roles")
            continue
        if minimum > role.replicas:
            why = (
                f"minRoleReplicas ({minimum}) for role {name} cannot exceed replicas "
                f"({role.replicas})"
            )
            yield _invalid(path, minimum, why)
        if minimum < 0:
            yield _invalid(path, minimum, f"minRoleReplicas for role {name} must be non-negative")


def _check_workers(roles: Sequence[Object]) -> Iterator[FieldError]:
    for index, role in enumerate(roles):
        workers = role.get("workerReplicas") or 0
        if workers < 0:
            why = "workerReplicas must be a non-negative integer"
            yield _invalid(f"{_ROLES}[{index}].workerReplicas", workers, why)
        if workers > 0 and role.get("workerTemplate") is None:
            why = "workerTemplate is required when workerReplicas is greater than 0"
            path = f"{_ROLES}[{index}].workerTemplate"
            yield FieldError(FieldErrorType.REQUIRED, path, why)


def _check_pair(spec: ServingSpec) -> Iterator[FieldError]:
    if spec.recovery != GROUP_RECREATE or spec.rollout != ROLE_ROLLING:
        return
    why = (
        "incompatible recoveryPolicy and rolloutStrategy.type after applying defaults: "
        f"recoveryPolicy={spec.recovery}, rolloutStrategy.type={spec.rollout}; valid pairs: "
        f"({GROUP_RECREATE},{GROUP_ROLLING}) or ({ROLE_RECREATE},{ROLE_ROLLING})"
    )
    yield _invalid("spec.rolloutStrategy.type", spec.rollout, why)


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(FieldErrorType.INVALID, path, detail, value)
