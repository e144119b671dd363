"""Rollouts keep their budget at every stored version, whatever the set's own controller does."""

import pytest
from operator_lab import Lab, make_lws, set_image, set_replicas
from operator_truth import Budget, Truth

from kohort.simulator import kinds

GATE = frozenset({"MaxUnavailableStatefulSet"})


async def roll(lab: Lab, budget: Budget, size: int = 2, **more: object) -> Truth:
    """Bring a workload up, roll it under a promise, and let it come to rest."""
    rollout = {
        "maxUnavailable": budget.unavailable,
        "maxSurge": budget.surge,
        "partition": budget.partition,
    }
    truth = Truth(lab)
    await lab.apply(make_lws(groups=budget.wanted, size=size, rollout=rollout, **more))
    await lab.until(lab.is_available)
    await lab.run(5)
    truth.promise(budget)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(30)
    return truth


@pytest.mark.parametrize("gates", [frozenset(), GATE], ids=["gate off", "gate on"])
@pytest.mark.parametrize(
    ("wanted", "unavailable", "surge"),
    [(4, 1, 0), (4, 2, 2), (4, 0, 1), (4, 2, 3), (2, 0, 2), (1, 0, 1), (5, 3, 4), (3, 5, 0)],
)
async def test_a_rollout_keeps_its_budget(
    wanted: int, unavailable: int, surge: int, gates: frozenset[str]
):
    """The third of these breaks upstream's own rule (reliability §4.1); §16.2 the small ones."""
    lab = await Lab(gates=gates).open()
    truth = await roll(lab, Budget(wanted, unavailable, surge))
    assert truth.breaches == []
    assert truth.steps[-1] == (0, wanted)
    images = {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}
    assert images == {"engine:2"}
    assert len(lab.all(kinds.POD)) == wanted * 2
    await lab.close()
