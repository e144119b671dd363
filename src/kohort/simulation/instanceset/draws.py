"""
The scenario of a seed for a RoleInstanceSet that a user made: instances, a rollout, and faults.

It has random streams of its own, and ``kohort sim run --apis ris`` draws from them.
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

KINDS = ("Pod", "Pod", "RoleInstance", "RoleInstance", "RoleInstanceSet", "ControllerRevision")
ROLES = ("a 1+0", "a 3+0", "a 2&1", "a 3&1")
_BUDGETS = ((1, 0), (1, 0), (2, 0), (1, 1), (2, 1))
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", "RoleInstance")),
    "namesake": valued("namesake", ("Pod", "Pod"), 4.0, 20.0),
    "relabel": valued("relabel", ("Pod", "place")),
}
# A set by hand has no StatefulSets, no Services and no roles of several sizes.
NEVER = ("scale-child", "restart-set", "set-image", "swap-set", "scale-role", "cost")
EDITS = (
    "roll",
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale",
    "scale",
    "resize",
    "hold",
    "recreate",
)
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"ris/{seed}")
    unavailable, surge = choices.pick(_BUDGETS)
    scenario = Scenario(
        seed=seed,
        api="ris",
        groups=1,
        unavailable=unavailable,
        surge=surge,
        restart=choices.pick((RECREATE, RECREATE, RECOVER_NONE)),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=choices.pick(ROLES),
        rollout=choices.pick((IN_PLACE, IN_PLACE, IN_PLACE, IN_PLACE_ONLY, RECREATE_POD)),
        role_partition=choices.pick((0, 0, 0, 0, 1)),
        drain=choices.pick((0, 0, 3)),
        min_ready=choices.pick((0,) * 6 + (3,)),
        is_ordered=choices.happens(15),
        stateless=choices.pick(("", "", "a")),
    )
    return focus(replace(scenario, faults=_draw_faults(choices)))


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    drawn = [_OWN.get(n, CATALOGUE[n].draw)(choices) for n in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))
