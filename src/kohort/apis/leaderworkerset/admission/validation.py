"""
All errors of a LeaderWorkerSet at once, in upstream's words.

Upstream's own rules hold for every write. The rules that are ours alone (names too long
for the API server to accept the pods, claims that a StatefulSet cannot change) hold on
create, and on update only if the update makes it worse: an object made under another
controller must stay editable.
"""

from collections.abc import Callable
from typing import Any

from kohort.apis.amounts import find_percent
from kohort.apis.gojson import CLAIM
from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.admission.defaults import STATEFULSETS
from kohort.apis.leaderworkerset.gojson import write_typed
from kohort.apis.leaderworkerset.spec import (
    LEADER_EXCLUDED,
    find_subgroup_policy,
    max_surge_of,
    max_unavailable_of,
    replicas_of,
    rollout_of,
    size_of,
    spec_of,
    template_of,
)
from kohort.apis.min_ready import RULE, find_min_ready
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.names import check_dns_1035, check_qualified
from kohort.cluster.objects import Object, annotations_of, metadata_of, name_of
from kohort.model.policies import list_strategies

REPLICAS_MAX = 1_000_000
PODS_MAX = 2**31 - 1
POD_NAME_MAX = 63

_REPLICAS = "spec.replicas"
_ROLLOUT = "spec.rolloutStrategy.rollingUpdateConfiguration"
_SIZE = "spec.leaderWorkerTemplate.size"
_CLAIMS = "spec.leaderWorkerTemplate.volumeClaimTemplates"
# Upstream spells the path so, and clients match on it.
_SUBGROUP_SIZE = "spec.leaderWorkerTemplate.SubGroupPolicy.subGroupSize"
_NEGATIVE = "must be greater than or equal to 0"
_BAD_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_GENERATED_SUFFIX = "00000"

Check = Callable[[Object], list[FieldError]]


def validate_workload(
    new: Object, old: Object | None = None, *, carrier: str = STATEFULSETS
) -> list[FieldError]:
    """All errors of a new object or an update; a new one without a carrier gets the given one."""
    errors: list[FieldError] = []
    for check in _CHECKS:
        errors += check(new)
    if old is not None:
        errors += _check_subgroup_changes(new, old) + _check_network(new)
        errors += _check_claims(new, old) + _check_carrier(new, old)
    else:
        errors += _check_new_carrier(new)
    errors += _check_strategy(new, old) + _check_min_ready(new, old)
    errors += _check_lengths(new, old, carrier) + _check_topologies(new, old)
    return errors


def find_broken_rules(lws: Object) -> list[FieldError]:
    """The rules about numbers that a stored object breaks, so that it cannot be planned."""
    return [*_check_replicas(lws), *_check_amounts(lws), *_check_subgroups(lws)]


def carrier_of(lws: Object, default: str = STATEFULSETS) -> str:
    """The carrier of this object: the annotation, or the default."""
    return annotations_of(lws).get(labels.CARRIER) or default


def _invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(FieldErrorType.INVALID, path, detail, value)


def _check_name(lws: Object) -> list[FieldError]:
    metadata = metadata_of(lws)
    name, prefix = metadata.get("name"), metadata.get("generateName")
    if name:
        return [_invalid("metadata.name", name, why) for why in check_dns_1035(name)]
    # The API server appends a suffix to the prefix, so a dash may end it.
    shown = f"{prefix}a" if prefix else "a"
    return [_invalid("metadata.generateName", prefix, why) for why in check_dns_1035(shown)]


def _check_replicas(lws: Object) -> list[FieldError]:
    replicas, size = replicas_of(lws), size_of(lws)
    errors = []
    if replicas < 0:
        errors.append(_invalid(_REPLICAS, replicas, "replicas must be equal or greater than 0"))
    if replicas > REPLICAS_MAX:
        why = f"replicas must be equal or less than {REPLICAS_MAX}"
        errors.append(_invalid(_REPLICAS, replicas, why))
    if size < 1:
        errors.append(_invalid(_SIZE, size, "size must be equal or greater than 1"))
    if replicas * size > PODS_MAX:
        why = f"the product of replicas and worker replicas must not exceed {PODS_MAX}"
        errors.append(_invalid(_REPLICAS, replicas, why))
    return errors


def _check_amounts(lws: Object) -> list[FieldError]:
    rollout = rollout_of(lws)
    errors = _check_amount(f"{_ROLLOUT}.maxUnavailable", rollout.get("maxUnavailable", 1))
    errors += _check_amount(f"{_ROLLOUT}.maxSurge", rollout.get("maxSurge", 0))
    partition = rollout.get("partition")
    if partition is not None and partition < 0:
        errors.append(_invalid(f"{_ROLLOUT}.partition", partition, _NEGATIVE))
    return errors


def _check_rollout(lws: Object) -> list[FieldError]:
    """Check what a user writes; an autoscaler may leave less, and the rollout goes on."""
    errors = _check_amounts(lws)
    stands_still = max_unavailable_of(lws) == 0 and max_surge_of(lws) == 0
    if stands_still and replicas_of(lws) > 0:
        why = "must not be 0 when `maxSurge` is 0"
        written = rollout_of(lws).get("maxUnavailable", 1)
        errors.append(_invalid(f"{_ROLLOUT}.maxUnavailable", written, why))
    return errors


def _check_amount(path: str, value: Any) -> list[FieldError]:
    if isinstance(value, str):
        percent = find_percent(value)
        if percent is None:
            return [_invalid(path, value, _BAD_PERCENT), _invalid(path, value, "invalid value")]
        too_much = [_invalid(path, value, "must not be greater than 100%")]
        return too_much if percent > 100 else []
    return [_invalid(path, value, _NEGATIVE)] if value is not None and value < 0 else []


def _check_subgroups(lws: Object) -> list[FieldError]:
    policy = find_subgroup_policy(lws)
    if policy is None:
        return _check_lone_topology(lws)
    size, subgroup_size = size_of(lws), policy.get("subGroupSize")
    if subgroup_size is None:
        return [
            FieldError(FieldErrorType.REQUIRED, _SUBGROUP_SIZE, "a subgroup policy needs a size")
        ]
    if subgroup_size < 1:
        why = "subGroupSize must be equal or greater than 1"
        return [_invalid(_SUBGROUP_SIZE, subgroup_size, why)]
    fits, fits_without_leader = size % subgroup_size == 0, (size - 1) % subgroup_size == 0
    excluded = policy.get("subGroupPolicyType") == LEADER_EXCLUDED
    reasons = {
        "size or size - 1 must be divisible by subGroupSize": not (fits or fits_without_leader),
        "subGroupSize cannot be larger than size": size < subgroup_size,
        "size-1 must be divisible by subGroupSize when using LeaderExcluded": excluded
        and not fits_without_leader,
    }
    return [_invalid(_SUBGROUP_SIZE, subgroup_size, why) for why, holds in reasons.items() if holds]


def _check_lone_topology(lws: Object) -> list[FieldError]:
    key = labels.SUBGROUP_EXCLUSIVE_TOPOLOGY
    if key not in annotations_of(lws):
        return []
    why = "cannot have subgroup-exclusive-topology without subGroupSize set"
    return [_invalid(f"metadata.annotations.{key}", annotations_of(lws)[key], why)]


_CHECKS: tuple[Check, ...] = (_check_name, _check_replicas, _check_rollout, _check_subgroups)


def _check_subgroup_changes(new: Object, old: Object) -> list[FieldError]:
    after, before = find_subgroup_policy(new), find_subgroup_policy(old)
    if after is not None and before is not None:
        size = after.get("subGroupSize")
        changed = size is not None and size != before.get("subGroupSize")
        return [_invalid(_SUBGROUP_SIZE, size, "field is immutable")] if changed else []
    if after is not None:
        why = "cannot enable subGroupSize after the lws is already created"
        return [_invalid(_SUBGROUP_SIZE, after.get("subGroupSize"), why)]
    if before is not None:
        why = "cannot remove subGroupSize after enabled"
        return [_invalid(_SUBGROUP_SIZE, before.get("subGroupSize"), why)]
    return []


def _check_network(lws: Object) -> list[FieldError]:
    network = spec_of(lws).get("networkConfig")
    if network is None or network.get("subdomainPolicy") is not None:
        return []
    why = "cannot set subdomainPolicy as null"
    return [_invalid("spec.networkConfig.subdomainPolicy", None, why)]


def _check_claims(new: Object, old: Object) -> list[FieldError]:
    after, before = _claims(new), _claims(old)
    if after == before:
        return []
    why = "the claims of a StatefulSet cannot be changed; make a new LeaderWorkerSet instead"
    return [FieldError(FieldErrorType.FORBIDDEN, _CLAIMS, why)]


def _claims(lws: Object) -> list[Any]:
    return [write_typed(CLAIM, c) for c in template_of(lws).get("volumeClaimTemplates") or ()]


def _check_new_carrier(new: Object) -> list[FieldError]:
    carrier, known = carrier_of(new), (labels.PODS, labels.STATEFULSETS)
    return [] if carrier in known else [_unsupported(labels.CARRIER, carrier, known)]


def _check_strategy(new: Object, old: Object | None) -> list[FieldError]:
    strategy = annotations_of(new).get(labels.STRATEGY)
    is_old = old is not None and annotations_of(old).get(labels.STRATEGY) == strategy
    if not strategy or strategy in list_strategies() or is_old:
        return []
    return [_unsupported(labels.STRATEGY, strategy, list_strategies())]


def _check_min_ready(new: Object, old: Object | None) -> list[FieldError]:
    key = labels.MIN_READY_SECONDS
    value = annotations_of(new).get(key)
    is_old = old is not None and annotations_of(old).get(key) == value
    if value is None or is_old or find_min_ready(new) is not None:
        return []
    return [_invalid(f"metadata.annotations.{key}", value, RULE)]


def _unsupported(annotation: str, value: str, known: tuple[str, ...]) -> FieldError:
    shown = ", ".join(f'"{name}"' for name in known)
    path = f"metadata.annotations.{annotation}"
    return FieldError(FieldErrorType.NOT_SUPPORTED, path, f"supported values: {shown}", value)


def _check_carrier(new: Object, old: Object) -> list[FieldError]:
    before = carrier_of(old)
    if carrier_of(new) == before:
        return []
    why = f"the carrier is fixed when the object is created, and this one is carried by {before}"
    return [FieldError(FieldErrorType.FORBIDDEN, f"metadata.annotations.{labels.CARRIER}", why)]


def _check_lengths(new: Object, old: Object | None, carrier: str) -> list[FieldError]:
    name = name_of(new) or metadata_of(new).get("generateName", "") + _GENERATED_SUFFIX
    carrier = carrier_of(new, carrier if old is None else STATEFULSETS)
    longest, limit = _longest(new, name, carrier)
    was = 0 if old is None else len(_longest(old, name_of(old), carrier)[0])
    if len(longest) <= max(limit, was):
        return []
    what = "StatefulSet" if carrier == STATEFULSETS else "pod"
    why = (
        f"with {replicas_of(new)} groups of {size_of(new)} and a surge of {max_surge_of(new)}, "
        f'the {what} "{longest}" would have {len(longest)} characters, and at most {limit} are '
        f"possible: use a name that is {len(longest) - limit} shorter"
    )
    return [_invalid("metadata.name", name, why)]


def _longest(lws: Object, name: str, carrier: str) -> tuple[str, int]:
    groups, size = max(replicas_of(lws), 0) + max(max_surge_of(lws), 0), size_of(lws)
    if carrier == STATEFULSETS:
        return names.longest_set_name(name, groups, size), names.SET_NAME_MAX
    return names.longest_pod_name(name, groups, size), POD_NAME_MAX


def _check_topologies(new: Object, old: Object | None) -> list[FieldError]:
    errors = []
    for key in (labels.EXCLUSIVE_TOPOLOGY, labels.SUBGROUP_EXCLUSIVE_TOPOLOGY):
        topology = annotations_of(new).get(key)
        # Upstream treats an empty topology as none.
        if not topology or (old is not None and annotations_of(old).get(key) == topology):
            continue
        problems = check_qualified(topology)
        errors += [_invalid(f"metadata.annotations.{key}", topology, why) for why in problems]
    return errors
