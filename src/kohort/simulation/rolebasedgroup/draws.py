"""
The scenario of a seed for RoleBasedGroup: roles, patterns, rules, a rollout, and faults.

It has random streams of its own, so the scenarios of other APIs do not depend on it.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.rolebasedgroup.labels import (
    IN_PLACE,
    IN_PLACE_ONLY,
    RECOVER_NONE,
    RECREATE,
    RECREATE_POD,
)
from kohort.simulation.scenario import PODS, Fault, Scenario

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
# StatefulSets are no part of what is drawn.
NEVER = ("scale-child", "restart-set", "set-image", "swap-set", "scale", "cost")
EDITS = (
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
    return focus(replace(scenario, faults=_draw_faults(choices)))


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
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    drawn = [_draw(name, choices) for name in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))


def _draw(name: str, choices: Choices) -> Fault:
    return _OWN.get(name, CATALOGUE[name].draw)(choices)
