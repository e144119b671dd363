"""
The scenario of a seed for RoleBasedGroup: what users make and edit, rules, a rollout, and faults.

The roles of a scenario are a text, such as ``a 2+0, b 1+1, c 1&1``: a role of two pods by
themselves, one of a leader and a worker, and one of two components. Its rules are another:
``skew 1``, ``together 1``, ``grow 50%``, ``order b a`` or ``ratio a 2 b 1``, with ``, `` between.

It has random streams of its own, so the scenarios of other APIs do not depend on it.
"""

import json
import re
from dataclasses import replace
from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.rolebasedgroup.carried_draws import add_carriers, read_carried
from kohort.simulation.rolebasedgroup.labels import (
    ADAPTER,
    CARRIERS,
    IN_PLACE,
    IN_PLACE_ONLY,
    MODE,
    ORDER,
    PATTERN,
    POLICY,
    RATIO,
    RECOVER_NONE,
    RECREATE,
    RECREATE_POD,
    STATELESS,
    WORKLOAD,
    WORKLOAD_TYPE,
)
from kohort.simulation.rolebasedgroup.wishes import (
    carrier_of,
    pattern_of,
    roles_of,
    rolling_of,
)
from kohort.simulation.scenario import NAME, PODS, Fault, Scenario, make_template
from kohort.simulation.simulated_api import SpecEdits, Template

KINDS = (
    "Pod",
    "Pod",
    "RoleInstance",
    "RoleInstance",
    "RoleInstanceSet",
    "RoleBasedGroup",
    "ControllerRevision",
    "Service",
    "RoleBasedGroupScalingAdapter",
    "ConfigMap",
)
ROLES = (
    "a 1+0",
    "a 3+0",
    "a 2+1",
    "a 2&1",
    "a 2+0, b 2+0",
    "a 3+0, b 1+1",
    "a 1+0, b 1+0",
    "a 2+0, b 1+0, c 2+0",
    "a 1+1, b 2+0, c 1&1",
)
_BUDGETS = ((1, 0), (1, 0), (2, 0), (1, 1), (2, 1))
RULES = ("", "", "skew 1", "skew 50%", "skew 1%", "grow 1", "grow 50%", "skew 1, grow 1")
PAIRS = ("order b a", "skew 1, order b a", "ratio a 2 b 1", "ratio a 1 b 2, skew 50%")
AFTER = ("", "", "b a", "a b", "b a, c b")
# What acts on objects that a RoleBasedGroup does not have, or has under another name.
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", *KINDS[2:5], *KINDS[6:])),
    "namesake": valued("namesake", ("Pod", "Pod", "Service"), 4.0, 20.0),
    "relabel": valued("relabel", ("Service", "Pod", "place")),
}
# What acts on StatefulSets; carried roles have some of these (``carried_draws``).
NEVER = ("scale-child", "restart-set", "set-image", "swap-set", "scale", "cost")
DRAWN_EDITS = (
    "roll",
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale-role",
    "scale-role",
    "resize",
    "hold",
    "recreate",
    "orphan",
)
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"rbg/{seed}")
    scenario = _draw_workload(seed, choices)
    return focus(add_carriers(replace(scenario, faults=_draw_faults(choices))))


def _draw_workload(seed: int, choices: Choices) -> Scenario:
    roles = choices.pick(ROLES)
    names = [each.split()[0] for each in roles.split(", ")]
    unavailable, surge = choices.pick(_BUDGETS)
    rules, after = choices.pick((*RULES, *PAIRS)), choices.pick(AFTER)
    scenario = Scenario(
        seed=seed,
        api="rbg",
        groups=1,
        unavailable=unavailable,
        surge=surge,
        restart=choices.pick((RECREATE, RECREATE, RECOVER_NONE)),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=roles,
        rollout=choices.pick((IN_PLACE, IN_PLACE, IN_PLACE, IN_PLACE_ONLY, RECREATE_POD)),
        role_partition=choices.pick((0, 0, 0, 0, 1)),
        drain=choices.pick((0, 0, 3)),
        min_ready=choices.pick((0,) * 6 + (3,)),
        is_ordered=choices.happens(15),
        adapters=choices.pick(("", "a", "b", "a b")),
    )
    return _tie(scenario, names, rules, after)


def _tie(scenario: Scenario, names: list[str], rules: str, after: str) -> Scenario:
    """The scenario with what ties its roles, as far as it has them."""
    adapters = [name for name in scenario.adapters.split() if name in names]
    pairs = [pair for pair in after.split(", ") if pair and set(pair.split()) <= set(names)]
    if len(names) < 2:
        rules = ""
    if rules.startswith("skew") and not scenario.role_partition:
        # Where one role stays old for ever, versions that are kept together do so, too.
        is_free = scenario.rollout != IN_PLACE_ONLY
        if is_free and Choices(f"rbg/together/{scenario.seed}").happens(25):
            rules = rules.replace("skew", "together", 1)
    if "ratio" in rules:
        # One role leads, and the other follows it.
        adapters = ["b"]
    own = Choices(f"rbg/stateless/{scenario.seed}")
    if own.happens(20):
        stateless = own.pick(("a", "a", "b", " ".join(names)))
        kept = [name for name in stateless.split() if name in names]
        scenario = replace(scenario, stateless=" ".join(kept))
    return replace(scenario, adapters=" ".join(adapters), rules=rules, after=", ".join(pairs))


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(DRAWN_EDITS) for _ in range(choices.below(3))]
    drawn = [_draw(name, choices) for name in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))


def _draw(name: str, choices: Choices) -> Fault:
    return _OWN.get(name, CATALOGUE[name].draw)(choices)


_ROLE = re.compile(r"([a-z]) (\d+)([+&])(\d+)")
BACKOFF_SECONDS = {"baseDelaySeconds": 2, "maxDelaySeconds": 8}
FIRST, SECOND = "main", "side"
CHANGES_MODE = 2  # of three templates that are picked, one changes what no running pod can follow


def read_roles(text: str) -> list[tuple[str, int, str, int]]:
    """Name, instances, what joins them, and further pods of each role."""
    found = [_ROLE.fullmatch(each.strip()) for each in text.split(",")]
    return [(m.group(1), int(m.group(2)), m.group(3), int(m.group(4))) for m in found if m]


def make_workload(scenario: Scenario, is_first: bool = False) -> Object:
    """The object that a user makes."""
    roles = [_make_role(scenario, *role) for role in read_roles(scenario.roles)]
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.name,
        "metadata": {"name": NAME},
        "spec": {"roles": roles},
    }


def _make_role(scenario: Scenario, name: str, instances: int, join: str, more: int) -> Object:
    rolling: Object = {"type": scenario.rollout, "maxUnavailable": scenario.unavailable}
    rolling |= {
        "maxSurge": scenario.surge,
        "partition": min(scenario.role_partition, instances - 1),
    }
    if read_carried(scenario.carried).get(name) == kinds.DEPLOYMENT.name:
        rolling["partition"] = 0  # it has none
    if scenario.drain:
        rolling["inPlaceUpdateStrategy"] = {"gracePeriodSeconds": scenario.drain}
    after = dict(each.split()[:2] for each in scenario.after.split(",") if each)
    return {
        "name": name,
        "replicas": instances,
        "rolloutStrategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
        "podManagementPolicy": "OrderedReady" if scenario.is_ordered else "Parallel",
        "minReadySeconds": scenario.min_ready,
        **_make_notes(scenario, name),
        **({"dependencies": [after[name]]} if name in after else {}),
        **({"scalingAdapter": {"enable": True}} if name in scenario.adapters.split() else {}),
        **_make_pattern(scenario, join, more),
    }


def _make_pattern(scenario: Scenario, join: str, more: int) -> Object:
    template = make_template("engine:1")
    policy: Object = {"type": scenario.restart}
    if scenario.restart != RECOVER_NONE:
        policy |= BACKOFF_SECONDS
    if join == "&":
        components = [
            {"name": FIRST, "size": 1, "template": template},
            {"name": SECOND, "size": more, "template": template},
        ]
        inner: Object = {"components": components, "restartPolicyConfig": policy}
        return {"customComponentsPattern": inner}
    if not more:
        return {"standalonePattern": {"template": template}}
    pattern = {"size": 1 + more, "template": template, "restartPolicyConfig": policy}
    return {"leaderWorkerPattern": pattern}


def _make_notes(scenario: Scenario, name: str) -> Object:
    """The annotations of a role: whether its instances have no ordinals, and what carries it."""
    notes = {PATTERN: STATELESS} if name in scenario.stateless.split() else {}
    if carrier := read_carried(scenario.carried).get(name):
        kind = CARRIERS[carrier]
        notes[WORKLOAD_TYPE] = f"{kind.api_version}/{kind.name}"
    return {"annotations": notes} if notes else {}


def make_others(scenario: Scenario) -> list[tuple[Kind, Object]]:
    """The policy that ties the roles together, if there is one."""
    if not scenario.rules:
        return []
    names = [name for name, *_ in read_roles(scenario.roles)]
    strategy: Object = {}
    notes: dict[str, str] = {}
    for rule in scenario.rules.split(", "):
        word, *rest = rule.split()
        if word == "order":
            notes[ORDER] = json.dumps({"all": rest})
        elif word == "ratio":
            shares = dict(zip(rest[::2], map(int, rest[1::2]), strict=True))
            notes[RATIO] = json.dumps({"all": shares})
        else:
            skew = rest[0] if rest[0].endswith("%") else int(rest[0])
            said: Object = {"maxSkew": skew}
            if word == "together":
                said["versionsTogether"] = {}
            strategy["scaling" if word == "grow" else "rollingUpdate"] = said
    if not strategy:
        strategy = {"rollingUpdate": {}}
    rules = [{"name": "all", "roles": names, "strategy": strategy}]
    metadata = {"name": NAME, "annotations": notes}
    made = {"apiVersion": POLICY.api_version, "kind": POLICY.name, "metadata": metadata}
    return [(POLICY, {**made, "spec": {"policies": rules}})]


def _write_template(scenario: Scenario, workload: Object, wanted: Template) -> Object:
    """Another template of all roles, or of one of them."""
    roles = roles_of(workload["spec"])
    # One more than there are roles means all of them.
    chosen = wanted.pick % (len(roles) + 1)
    changes_mode = wanted.pick // (len(roles) + 1) % 3 == CHANGES_MODE
    return {
        "roles": [
            _with_template(role, wanted, changes_mode) if chosen in (place, len(roles)) else role
            for place, role in enumerate(roles)
        ]
    }


def _with_template(role: Object, wanted: Template, changes_mode: bool) -> Object:
    template = make_template(wanted.image)
    notes = {key: value for key, value in wanted.notes.items() if value is not None}
    template["metadata"]["annotations"] = notes
    if changes_mode:
        template["spec"]["containers"][0]["env"] = [{"name": MODE, "value": wanted.image}]
    return _with_pattern(role, template=template)


def _with_pattern(role: Object, **changes: Any) -> Object:
    pattern = pattern_of(role)
    key = next(key for key, value in role.items() if value is pattern)
    if "components" in pattern:
        inner = [{**component, **changes} for component in pattern["components"]]
        return {**role, key: {**pattern, "components": inner}}
    return {**role, key: {**pattern, **changes}}


def _write_size(workload: Object, size: int) -> Object:
    """Other workers of all roles that have some."""
    roles = roles_of(workload["spec"])
    is_wide = [pattern_of(role).get("size", 1) > 1 for role in roles]
    return {
        "roles": [
            _with_pattern(role, size=1 + size) if wide else role
            for role, wide in zip(roles, is_wide, strict=True)
        ]
    }


def _write_partition(workload: Object, partition: int) -> Object:
    def hold(role: Object) -> Object:
        is_split = carrier_of(role) != kinds.DEPLOYMENT
        held = min(partition, role["replicas"] - 1) if is_split else 0
        rolling = {**rolling_of(role), "partition": held}
        return {**role, "rolloutStrategy": {**role["rolloutStrategy"], "rollingUpdate": rolling}}

    return {"roles": [hold(role) for role in roles_of(workload["spec"])]}


def _write_role_scale(workload: Object, count: int, pick: int) -> Object:
    roles = roles_of(workload["spec"])
    chosen = roles[pick % len(roles)]
    rolling = rolling_of(chosen)
    # Less than all may be held back.
    rolling = {**rolling, "partition": min(rolling.get("partition", 0), count - 1)}
    strategy = {**chosen["rolloutStrategy"], "rollingUpdate": rolling}
    changed = {**chosen, "replicas": count, "rolloutStrategy": strategy}
    return {"roles": [changed if role is chosen else role for role in roles]}


def _find_scaled(scenario: Scenario, pick: int) -> tuple[Kind, str] | None:
    """The adapter of a role; without one, and half of the time with one, users edit the group."""
    names = [name for name, *_ in read_roles(scenario.roles)]
    chosen = names[pick % len(names)]
    if chosen not in scenario.adapters.split() or pick // len(names) % 2:
        return None
    return ADAPTER, f"{NAME}-{chosen}"


def _write_pause(workload: Object, pick: int, is_paused: bool) -> Object:
    """The rollout of a carried role stopped, or let go on."""
    roles = roles_of(workload["spec"])
    carried = [role for role in roles if carrier_of(role) is not None]
    if not carried:
        return {}
    chosen = carried[pick % len(carried)]
    rolling = {**rolling_of(chosen), "paused": is_paused}
    changed = {**chosen, "rolloutStrategy": {**chosen["rolloutStrategy"], "rollingUpdate": rolling}}
    return {"roles": [changed if role is chosen else role for role in roles]}


EDITS = SpecEdits(
    _write_template, _write_size, _write_partition, _write_role_scale, _find_scaled, _write_pause
)


def list_free_names(scenario: Scenario, kind: Kind, pick: int) -> list[str]:
    """Names that children would have, first that which was picked."""
    roles = read_roles(scenario.roles)
    if kind == kinds.SERVICE:
        names = [f"s-{NAME}-{role}" for role, *_ in roles]
    elif kind in CARRIERS.values():
        names = [f"{NAME}-{role}" for role in read_carried(scenario.carried)]
    else:
        names = [
            name
            for role, instances, join, more in roles
            for ordinal in range(instances)
            for name in _list_pods(f"{NAME}-{role}-{ordinal}", join, more)
        ]
    start = pick % len(names)
    return [*names[start:], *names[:start]]


def _list_pods(instance: str, join: str, more: int) -> list[str]:
    if join == "&":
        return [f"{instance}-{FIRST}-0", *(f"{instance}-{SECOND}-{i}" for i in range(more))]
    return [f"{instance}-{index}" for index in range(1 + more)] if more else [instance]
