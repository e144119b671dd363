"""
The roles, counts, budgets and rules of a RoleBasedGroup, from specs alone.

A role that has an adapter has the count that the adapter says from the moment it is bound; a
ratio ties the counts of others to it.
"""

import json
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, annotations_of
from kohort.simulation.checkers.truth import Truth, image_of, owners_of
from kohort.simulation.rolebasedgroup.labels import (
    ADAPTER,
    CARRIERS,
    IN_PLACE,
    LEADERS,
    MODE,
    ORDER,
    PATTERN,
    POLICY,
    RATIO,
    RECREATE,
    STATELESS,
    WORKLOAD_TYPE,
)
from kohort.simulation.scenario import NAME
from kohort.simulation.simulated_api import Policy, RuleView
from kohort.simulator.stages import CRASH_AFTER, CRASH_TIMES

PATTERNS = ("standalonePattern", "leaderWorkerPattern", "customComponentsPattern")


def roles_of(spec: Object | None) -> list[Object]:
    """The roles that a spec asks for."""
    found: list[Object] = (spec or {}).get("roles") or []
    return found


def find_role(spec: Object, name: str) -> Object | None:
    """The role of that name."""
    return next((role for role in roles_of(spec) if role["name"] == name), None)


def pattern_of(role: Object) -> Object:
    """The pattern of a role's instances."""
    return next(role[key] for key in PATTERNS if key in role)


def template_of(role: Object) -> Object:
    """The template of a role's pods; simulations give all components the same."""
    pattern = pattern_of(role)
    found: Object = (pattern.get("components") or [pattern])[0]["template"]
    return found


def size_of(role: Object) -> int:
    """The pods of an instance."""
    pattern = pattern_of(role)
    if "components" in pattern:
        return sum(each.get("size", 1) for each in pattern["components"])
    return int(pattern.get("size", 1))


def rolling_of(role: Object) -> Object:
    """How a role is brought to a new template."""
    found: Object = (role.get("rolloutStrategy") or {}).get("rollingUpdate") or {}
    return found


def is_stateless(role: Object) -> bool:
    """Whether the instances of a role have no ordinals."""
    return bool((role.get("annotations") or {}).get(PATTERN) == STATELESS)


def carrier_of(role: Object) -> Kind | None:
    """The kind whose controller makes the pods of a role; None: the operator makes them."""
    named = (role.get("annotations") or {}).get(WORKLOAD_TYPE, "")
    return CARRIERS.get(str(named).rpartition("/")[2])


def has_ordinals(role: Object) -> bool:
    """Whether the pods of a role have ordinals, and addresses of their own."""
    return not is_stateless(role) and carrier_of(role) != kinds.DEPLOYMENT


def find_service(role: Object) -> str:
    """The Service of a role: a Deployment has none, a LeaderWorkerSet one by its own name."""
    carrier = carrier_of(role)
    if carrier == kinds.DEPLOYMENT:
        return ""
    return f"{NAME}-{role['name']}" if carrier == LEADERS else f"s-{NAME}-{role['name']}"


def is_paused(role: Object) -> bool:
    """Whether the user has stopped the rollout of a role."""
    return bool(rolling_of(role).get("paused"))


def manner_of(role: Object) -> str:
    """The type of a role's rolling update: in place, or by new pods."""
    return str(rolling_of(role).get("type") or IN_PLACE)


def recovers(role: Object) -> bool:
    """Whether a container that fails takes its instance along."""
    if "standalonePattern" in role:
        return False
    config = pattern_of(role).get("restartPolicyConfig") or {}
    return bool(config.get("type", RECREATE) == RECREATE)


def read_contents(template: Object) -> tuple[str, str]:
    """The image and the mode of a template's pods: the fields that simulations change."""
    variables = template["spec"]["containers"][0].get("env") or ()
    mode = next((v.get("value", "") for v in variables if v["name"] == MODE), "")
    return image_of(template), mode


def differs(held: Object, asked: Object) -> bool:
    """Whether a template, or a pod as it runs, is not as a template asks."""
    notes = annotations_of(held)
    # Two templates may have one image and crash at different times. A fault marks pods, too.
    is_other = CRASH_TIMES not in notes and notes.get(CRASH_AFTER) != annotations_of(asked).get(
        CRASH_AFTER
    )
    return is_other or read_contents(held) != read_contents(asked)


def read_role_policy(role: Object, wanted: int) -> Policy:
    """The policy of a role's instances."""
    rolling = rolling_of(role)
    unavailable, surge = rolling.get("maxUnavailable", 1), rolling.get("maxSurge") or 0
    partition = min(int(rolling.get("partition") or 0), wanted)
    if is_paused(role):
        partition = wanted
    return Policy(wanted, unavailable, min(surge, wanted), partition)


def count_wanted(truth: Truth, spec: Object) -> dict[str, int]:
    """The instances that each role should have."""
    counts = {role["name"]: int(role.get("replicas", 1)) for role in roles_of(spec)}
    leaders = set()
    workload = truth.workload
    for role in roles_of(spec):
        if (role.get("scalingAdapter") or {}).get("enable"):
            leaders.add(role["name"])
            adapter = truth.objects[ADAPTER].get(f"{NAME}-{role['name']}")
            is_ours = workload and adapter and workload["metadata"]["uid"] in owners_of(adapter)
            if is_ours and adapter and (adapter.get("status") or {}).get("phase") == "Bound":
                counts[role["name"]] = int(adapter["spec"]["replicas"])
    return _couple(counts, leaders, _find_ratio(truth))


def _couple(counts: dict[str, int], leaders: set[str], ratio: dict[str, int]) -> dict[str, int]:
    leads = [Fraction(counts[name], share) for name, share in ratio.items() if name in leaders]
    if not leads:
        return counts
    tied = {name: ceil(max(leads) * share) for name, share in ratio.items()}
    return {name: tied.get(name, count) for name, count in counts.items()}


def _find_ratio(truth: Truth) -> dict[str, int]:
    policy = truth.objects[POLICY].get(NAME)
    said = json.loads(annotations_of(policy).get(RATIO, "{}")) if policy else {}
    return {name: share for shares in said.values() for name, share in shares.items()}


def list_rules(truth: Truth) -> list[RuleView]:
    """What ties roles together, as the user wrote it."""
    policy = truth.objects[POLICY].get(NAME)
    if policy is None:
        return []
    orders = json.loads(annotations_of(policy).get(ORDER, "{}"))
    found = []
    for rule in policy["spec"]["policies"]:
        strategy = rule.get("strategy") or {}
        view = RuleView(tuple(rule["roles"]), order=tuple(orders.get(rule["name"], ())))
        updates = strategy.get("rollingUpdate") or {}
        is_together = "versionsTogether" in updates
        view = replace(view, update_skew=_read_skew(updates), is_together=is_together)
        found.append(replace(view, growth_skew=_read_skew(strategy.get("scaling"))))
    return found


def _read_skew(strategy: Object | None) -> float | int | None:
    said: Any = (strategy or {}).get("maxSkew")
    return int(said[:-1]) / 100 if isinstance(said, str) else said
