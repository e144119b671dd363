"""
What a seed means for a RoleInstance by hand: its components, edits, and faults.

Its streams of chance are its own, and ``kohort sim run --apis rins`` draws from them.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.rolebasedgroup.labels import RECOVER_NONE, RECREATE
from kohort.simulation.scenario import PODS, Fault, Scenario

KINDS = ("Pod", "Pod", "RoleInstance", "RoleInstance", "ControllerRevision")
ROLES = ("a 1+0", "a 1&1", "a 1&1", "a 1&2")
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node"), ("garbage", "kubelet", "scheduler"), 6.0),
    "delete-child": valued("delete-child", ("Pod", "Pod", "ControllerRevision")),
    "namesake": valued("namesake", ("Pod", "Pod"), 4.0, 20.0),
    "relabel": valued("relabel", ("Pod", "place")),
}
# One instance has no sets, no Services and no count; and it takes no orphaned pods over.
NEVER = (
    "scale-child",
    "restart-set",
    "set-image",
    "swap-set",
    "scale-role",
    "cost",
    "edit-service",
    "orphan",
)
EDITS = ("roll", "roll", "bad-roll", "fleeting-roll", "resize", "recreate")
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"rins/{seed}")
    scenario = Scenario(
        seed=seed,
        api="rins",
        groups=1,
        restart=choices.pick((RECREATE, RECREATE, RECOVER_NONE)),
        carrier=PODS,
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        roles=choices.pick(ROLES),
        drain=choices.pick((0, 0, 3)),
    )
    return focus(replace(scenario, faults=_draw_faults(choices)))


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    drawn = [_OWN.get(n, CATALOGUE[n].draw)(choices) for n in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))
