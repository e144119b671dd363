"""
CoordinatedPolicy: limits on how far the roles of a group may drift apart, as planning rules.

A policy applies to the group of the same name. Skews are numbers or percentages. Three rules are
ours, as fields or, where upstream's definition drops those, as annotations: an update order,
versions that are kept together, and a ratio by which roles grow with a role that an autoscaler
scales. A policy may lower a role's ``maxUnavailable`` and raise its partition, never the opposite.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil
from typing import Any

import orjson

from kohort.apis.amounts import find_percent, resolve_amount
from kohort.apis.rolebasedgroup import labels, names
from kohort.apis.rolebasedgroup.objects.services import reference_to
from kohort.apis.rolebasedgroup.roles import RolloutSpec, as_list, as_map, as_objects
from kohort.cluster.objects import Object, annotations_of, name_of, namespace_of
from kohort.model.policies import Gate, Rule, Skew

ORDER_READY = "OrderReady"
_WHOLE = Skew(share=1.0)  # default without a maxSkew: any role may finish before the others begin
_ONE = Skew(units=1)  # default without a maxSkew for versions that are kept together
_NOTES = (labels.UPDATE_ORDER, labels.RATIO, labels.VERSIONS_TOGETHER)
_ROLL_BACK = "rollBackAfterSeconds"
_BAD_SKEW = "must be a whole number that is not negative, or a percentage such as 25%"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One rule of a policy."""

    name: str
    roles: tuple[str, ...]
    updates: Object | None = None  # the policy's rollingUpdate as the user wrote it
    scaling: Object | None = None
    order: tuple[str, ...] = ()  # in which roles are updated, first role first
    ratio: Mapping[str, int] = field(default_factory=dict)
    together: Object | None = None  # how versions are kept together; None: they are not


@dataclass(frozen=True, slots=True)
class PolicyFault:
    """One error in a policy, and the path of its field."""

    path: str
    message: str
    value: Any = None


def read_policy(policy: Object) -> tuple[PolicyRule, ...]:
    """The rules of a policy."""
    notes = annotations_of(policy)
    found = {key: _read_note(notes.get(key, "")) for key in _NOTES}
    listed = as_objects(as_map(policy.get("spec")).get("policies"))
    return tuple(_read_rule(rule, found) for rule in listed)


def make_rules(policy: Object) -> tuple[Rule, ...]:
    """The rules of a policy in the form that the planner takes."""
    return tuple(rule for found in read_policy(policy) for rule in _make_rules(found))


def narrow_rollout(
    rules: tuple[PolicyRule, ...], role: str, replicas: int, rollout: RolloutSpec
) -> RolloutSpec:
    """A role's rollout limited by its policies: lower ``maxUnavailable``, higher partition."""
    for rule in rules:
        if role not in rule.roles or rule.updates is None or len(rule.roles) < 2:
            continue
        unavailable, partition = rule.updates.get("maxUnavailable"), rule.updates.get("partition")
        if unavailable is not None:
            least = max(1, resolve_amount(unavailable, replicas, round_up=False))
            narrowed = min(rollout.max_unavailable, least)
            rollout = replace(rollout, max_unavailable=narrowed)
        if partition is not None:
            wanted = max(rollout.partition, resolve_partition(partition, replicas))
            rollout = replace(rollout, partition=wanted)
    return rollout


def resolve_partition(value: Any, replicas: int) -> int:
    """A policy's partition in instances, rounded up; below 100% it lets one instance update."""
    found = resolve_amount(value, replicas, round_up=True)
    percent = find_percent(value)
    if percent is not None and percent < 100:
        found = min(found, replicas - 1)
    return max(0, min(found, replicas))


def couple_replicas(
    rules: tuple[PolicyRule, ...], counts: Mapping[str, int], leaders: frozenset[str]
) -> dict[str, int]:
    """Replicas by role: roles in a ratio with an autoscaled role follow its replicas.

    Leaders are the roles that an autoscaler scales. Of several leaders in one ratio, the one with
    the most replicas for its share decides. A ratio without a leader changes nothing.
    """
    found = dict(counts)
    for rule in rules:
        held = {role: share for role, share in rule.ratio.items() if share > 0 and role in counts}
        leads = [Fraction(counts[role], held[role]) for role in held if role in leaders]
        for role, share in held.items() if leads else ():
            wanted = ceil(max(leads) * share)
            found[role] = max(counts[role], wanted) if role in leaders else wanted
    return found


def make_policy(group: Object) -> Object | None:
    """The CoordinatedPolicy for a group's v1alpha1 coordination; None if the group has none.

    We name each rule and keep OrderReady; upstream drops it, and its unnamed rules are refused.
    """
    listed = _read_json(annotations_of(group).get(labels.OLD_COORDINATION, ""))
    rules = [_upgrade(rule, index) for index, rule in enumerate(as_objects(listed))]
    if not rules:
        return None
    return {
        "apiVersion": labels.POLICY.api_version,
        "kind": labels.POLICY.name,
        "metadata": {
            "name": names.config_name(name_of(group)),
            "namespace": namespace_of(group),
            "ownerReferences": [reference_to(group)],
        },
        "spec": {"policies": rules},
    }


def list_faults(policy: Object) -> list[PolicyFault]:
    """All errors in a policy."""
    return list(_list_faults(policy))


def _upgrade(rule: Object, index: int) -> Object:
    return {
        "name": str(rule.get("name") or f"rule-{index}"),
        "roles": as_list(rule.get("roles")),
        "strategy": as_map(rule.get("strategy")),
    }


def _read_rule(rule: Object, notes: Mapping[str, Object]) -> PolicyRule:
    name, strategy = str(rule.get("name") or ""), as_map(rule.get("strategy"))
    updates, scaling = strategy.get("rollingUpdate"), strategy.get("scaling")
    noted = {key: found.get(name) for key, found in notes.items()}
    order = as_list(as_map(updates).get("updateOrder") or noted.get(labels.UPDATE_ORDER))
    ratio = as_map(as_map(scaling).get("ratio") or noted.get(labels.RATIO))
    together = as_map(updates).get("versionsTogether", noted.get(labels.VERSIONS_TOGETHER))
    return PolicyRule(
        name=name,
        roles=tuple(map(str, as_list(rule.get("roles")))),
        updates=updates if isinstance(updates, dict) else None,
        scaling=scaling if isinstance(scaling, dict) else None,
        order=tuple(map(str, order)),
        ratio={role: share for role, share in ratio.items() if _is_count(share)},
        together=together if isinstance(together, dict) else None,
    )


def _make_rules(found: PolicyRule) -> Iterator[Rule]:
    skew = None if found.updates is None else _read_skew(found.updates.get("maxSkew"))
    if found.together is not None:
        yield Rule(
            found.name,
            found.roles,
            update_skew=skew or _ONE,
            is_together=True,
            rollback_seconds=_read_seconds(found.together),
        )
        skew = None
    growth = None
    gate = Gate.SCHEDULED
    if found.scaling is not None:
        growth = _read_skew(found.scaling.get("maxSkew")) or _WHOLE
        gate = Gate.READY if found.scaling.get("progression") == ORDER_READY else Gate.SCHEDULED
    if skew is not None or growth is not None:
        yield Rule(found.name, found.roles, update_skew=skew, scale_skew=growth, gate=gate)
    if found.order:
        yield Rule(found.name, found.order, is_ordered=True)


def _read_seconds(together: Object) -> float | None:
    seconds = together.get(_ROLL_BACK)
    return float(seconds) if _is_count(seconds) and seconds else None


def _read_skew(value: Any) -> Skew | None:
    percent = find_percent(value)
    if percent is not None:
        return Skew(share=percent / 100)
    return Skew(units=value) if _is_count(value) else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _list_faults(policy: Object) -> Iterator[PolicyFault]:
    for index, rule in enumerate(as_objects(as_map(policy.get("spec")).get("policies"))):
        path = f"spec.policies[{index}]"
        roles = as_list(rule.get("roles"))
        if len(set(map(str, roles))) != len(roles):
            yield PolicyFault(f"{path}.roles", "names a role twice", roles)
        strategy = as_map(rule.get("strategy"))
        for part in ("rollingUpdate", "scaling"):
            given = as_map(strategy.get(part))
            for name in ("maxSkew", "maxUnavailable", "partition"):
                value = given.get(name)
                if value is not None and not _is_count(value) and find_percent(value) is None:
                    yield PolicyFault(f"{path}.strategy.{part}.{name}", _BAD_SKEW, value)
        yield from _list_own_faults(_read_rule(rule, {}), strategy, path)
    yield from _list_noted_faults(policy)


def _list_own_faults(rule: PolicyRule, strategy: Object, path: str) -> Iterator[PolicyFault]:
    unknown = [role for role in rule.order if role not in rule.roles]
    if unknown:
        message = f"must name roles of this policy, which {', '.join(unknown)} is not"
        yield PolicyFault(f"{path}.strategy.rollingUpdate.updateOrder", message, list(rule.order))
    given = as_map(as_map(strategy.get("scaling")).get("ratio"))
    bad = {role: share for role, share in given.items() if not _is_count(share) or share == 0}
    bad |= {role: share for role, share in given.items() if role not in rule.roles}
    if bad:
        message = "must give a number above 0 to roles of this policy"
        yield PolicyFault(f"{path}.strategy.scaling.ratio", message, bad)


def _list_noted_faults(policy: Object) -> Iterator[PolicyFault]:
    for key in _NOTES:
        text = annotations_of(policy).get(key)
        noted = _read_json(text or "{}")
        if not isinstance(noted, dict):
            message = "must be a JSON object by names of policies"
            yield PolicyFault(f"metadata.annotations[{key}]", message, text)
        elif key == labels.VERSIONS_TOGETHER and any(map(_is_bad_together, noted.values())):
            message = f"must give each policy {{}} or a {_ROLL_BACK} above 0"
            yield PolicyFault(f"metadata.annotations[{key}]", message, text)


def _is_bad_together(given: Any) -> bool:
    if not isinstance(given, dict):
        return True
    return _ROLL_BACK in given and _read_seconds(given) is None


def _read_note(text: str) -> Object:
    return as_map(_read_json(text))


def _read_json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return None
