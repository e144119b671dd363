"""
The scenario of a seed for ModelServing: groups, roles, instances, a rollout, a policy, and faults.

It has random streams of its own, so the scenarios of other APIs do not depend on it.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.modelserving.labels import (
    GROUP_RECREATE,
    GROUP_ROLLING,
    RECOVER_NONE,
    ROLE_RECREATE,
    ROLE_ROLLING,
)
from kohort.simulation.scenario import PODS, Fault, Scenario

KINDS = ("Pod", "Pod", "ModelServing", "ControllerRevision", "Service")
ROLES = ("a 1+0", "a 1+1", "a 2+1", "a 1+1, b 1+0", "a 1+0, b 2+1", "a 2+0, b 1+1", "a 1+2")
_BUDGETS: tuple[tuple[int | str, int], ...] = ((1, 0), (1, 0), (1, 1), (2, 0), (1, 2), ("60%", 0))
# What acts on objects that a ModelServing does not have, or has under another name.
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", "Service", "ControllerRevision")),
    "namesake": valued("namesake", ("Pod", "Pod", "Service"), 4.0, 20.0),
    "relabel": valued("relabel", ("Service", "Pod", "place")),
}
# StatefulSets are no part of a ModelServing.
NEVER = ("scale-child", "restart-set", "set-image", "swap-set")
EDITS = (
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale",
    "scale",
    "scale-role",
    "resize",
    "hold",
    "cost",
    "recreate",
    "orphan",
)
GANGS_PERCENT = 20
# Volcano's gangs are made without a flag: no flag names others, or none.
GANG_FAULTS = (
    "partial-bind",
    "late-bind",
    "scheduler-away",
    "preempt",
    "lose-gang",
    "close-queue",
    "crowd",
)
FAILURES = list_failures(NEVER)
# A partition keeps the counts that roles had before, and the spec has only the new ones.
_UNKEPT = ("scale-role",)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"ms/{seed}")
    scenario = _draw_workload(seed, choices)
    scenario = replace(scenario, faults=_draw_faults(choices, scenario))
    # A random stream of its own, so that the rest of a seed's scenario stays the same.
    min_ready = Choices(f"ms/{seed}/lasting").pick((0,) * 6 + (3, 8))
    return focus(_add_gangs(replace(scenario, min_ready=min_ready)))


def _add_gangs(scenario: Scenario) -> Scenario:
    """The same scenario, with gangs if the seed says so; there is room for all of them."""
    choices = Choices(f"ms/{scenario.seed}/gangs")
    if not choices.happens(GANGS_PERCENT):
        return scenario
    drawn = [_draw(choices.pick(GANG_FAULTS), choices) for _ in range(choices.below(4))]
    faults = sorted((*scenario.faults, *drawn), key=lambda fault: (fault.at, fault.n))
    gpus = choices.pick((0, 1))
    return replace(scenario, gang="volcano", gpus=gpus, faults=tuple(faults))


def _draw_workload(seed: int, choices: Choices) -> Scenario:
    groups = 1 + choices.below(3)
    unavailable, surge = choices.pick(_BUDGETS)
    by_role = choices.happens(40)
    recoveries: tuple[str, ...] = (ROLE_RECREATE, ROLE_RECREATE, RECOVER_NONE)
    # A whole group that is made anew for one of its roles knows no rollout by role.
    recoveries = recoveries if by_role else (*recoveries, GROUP_RECREATE, GROUP_RECREATE)
    scenario = Scenario(
        seed=seed,
        api="ms",
        groups=groups,
        unavailable=unavailable if groups > 1 else 1,
        surge=surge,
        partition=choices.pick((0, 0, 0, 0, 1)),
        restart=choices.pick(recoveries),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=choices.pick(ROLES),
        rollout=ROLE_ROLLING if by_role else GROUP_ROLLING,
        grace=choices.pick((0, 0, 5)),
        role_unavailable=choices.pick((0, 1, 1)),
        role_partition=choices.pick((0, 0, 0, 1)),
    )
    if by_role:
        return replace(scenario, unavailable=1, surge=0, partition=0)
    return replace(scenario, role_unavailable=0, role_partition=0)


def _draw_faults(choices: Choices, scenario: Scenario) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    if scenario.partition or scenario.role_partition or "hold" in edits:
        edits = [name for name in edits if name not in _UNKEPT]
    drawn = [_draw(name, choices) for name in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))


def _draw(name: str, choices: Choices) -> Fault:
    return _OWN.get(name, CATALOGUE[name].draw)(choices)
