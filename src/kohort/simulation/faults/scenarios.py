"""
The scenario of a seed: a small workload, settings of the run, and some faults.

Each seed chooses which kinds of faults it has and how many (a swarm): a run with
few kinds goes deeper into each. The number is finite, and all faults end: after
them comes a quiet period, in which everything has to heal.
"""

from dataclasses import replace

from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, EDITS, FAILURES
from kohort.simulation.faults.draws import focus
from kohort.simulation.faults.gang_faults import add_gangs
from kohort.simulation.faults.hand_edits import add_hands, add_swaps
from kohort.simulation.scenario import (
    AFTER_START,
    BUDGETED,
    COMPATIBLE,
    KEEP,
    LEADER_FIRST,
    PODS,
    RECREATE,
    SHARED,
    STATEFULSETS,
    TOGETHER,
    UNIQUE,
    Fault,
    Scenario,
)

_BUDGETS: tuple[tuple[int | str, int | str], ...] = (
    (1, 0),
    (1, 0),
    (0, 1),
    (1, 1),
    (2, 0),
    (0, 2),
    (1, 2),
    ("60%", "40%"),
)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    return add_swaps(focus(add_hands(add_gangs(_draw_plain(seed)))))


def _draw_plain(seed: int) -> Scenario:
    choices = Choices(seed)
    groups = 1 + choices.below(3)
    unavailable, surge = choices.pick(_BUDGETS)
    strategy = choices.pick((BUDGETED,) * 7 + (COMPATIBLE,))
    scenario = Scenario(
        seed=seed,
        groups=groups,
        size=1 + choices.below(2),
        unavailable=min(unavailable, groups) if isinstance(unavailable, int) else unavailable,
        surge=surge,
        # Upstream's own rollout keeps extra groups as long as a partition holds others back.
        partition=choices.pick((0, 0, 0, 0, 1) if strategy == BUDGETED else (0,)),
        restart=choices.pick((RECREATE, RECREATE, AFTER_START, KEEP)),
        startup=choices.pick((TOGETHER, TOGETHER, LEADER_FIRST)),
        carrier=choices.pick((STATEFULSETS, STATEFULSETS, PODS)),
        strategy=strategy,
        subdomain=choices.pick((SHARED,) * 4 + (UNIQUE,)),
        claims=choices.pick(("",) * 8 + ("Retain", "Delete")),
        replicas=choices.pick((1, 1, 1, 1, 2)),
        is_gated=choices.happens(50),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
        faults=_draw_faults(choices),
    )
    # Drawn last, so that the rest of a seed's scenario stays the same.
    return replace(scenario, min_ready=choices.pick((0,) * 6 + (3, 8)))


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(EDITS) for _ in range(choices.below(3))]
    drawn = [CATALOGUE[name].draw(choices) for name in ["roll", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))
