"""The controller may be killed after any write about groups carried by pods."""

from collections.abc import Awaitable, Callable

import pytest
from operator_lab import Lab, set_image, set_replicas
from pods_truth import PodTruth, make, names

from kohort.cluster import kinds
from kohort.cluster.objects import Object

Step = Callable[[Lab], Awaitable[None]]
CLAIM = {
    "metadata": {"name": "models"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
KEPT = {
    "volumeClaimTemplates": [CLAIM],
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Delete"},
}


async def create(lab: Lab) -> None:
    rollout = {"maxUnavailable": 1, "maxSurge": 1}
    await lab.apply(make(groups=2, size=2, template=KEPT, rollout=rollout))


async def roll(lab: Lab) -> None:
    await lab.edit("x", set_image("engine:2"))


async def scale_down(lab: Lab) -> None:
    await lab.edit("x", set_replicas(1))


async def lose_a_worker(lab: Lab) -> None:
    await lab.delete(kinds.POD, "x-1-1")


SCENARIOS: dict[str, tuple[Step, ...]] = {
    "create": (create,),
    "rollout": (create, roll),
    "scale down": (create, scale_down),
    "recovery": (create, lose_a_worker),
}


async def run_steps(steps: tuple[Step, ...], crash_after: int | None) -> tuple[Lab, PodTruth]:
    """Run all steps but the last in peace, and the last with a crash."""
    lab = await Lab().open(nodes=3)
    truth = PodTruth(lab)
    for step in steps[:-1]:
        await step(lab)
        await lab.until(lab.is_available)
    await lab.run(5)
    lab.cluster.writes.clear()
    lab.cluster.left = crash_after
    truth.is_on = True
    await steps[-1](lab)
    if crash_after is not None:
        await lab.run(20)
        await lab.stop_operator()
        await lab.run(2)
        lab.start_operator()
    await lab.run(30)
    await lab.until(lab.is_available)
    await lab.run(30)
    return lab, truth


def summary(lab: Lab) -> Object:
    """What must not depend on crashes."""
    status = lab.lws()["status"]
    return {
        "pods": names(lab),
        "images": {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)},
        "claims": sorted(c["metadata"]["name"] for c in lab.all(kinds.CLAIM)),
        "services": sorted(s["metadata"]["name"] for s in lab.all(kinds.SERVICE)),
        "revisions": len(lab.all(kinds.CONTROLLER_REVISION)),
        "counts": [status.get(k) for k in ("replicas", "readyReplicas", "updatedReplicas")],
        "conditions": sorted((c["type"], c["status"]) for c in status["conditions"]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_crash_after_any_write_changes_nothing_in_the_end(name: str):
    steps = SCENARIOS[name]
    reference, truth = await run_steps(steps, None)
    wanted, count = summary(reference), sum(reference.cluster.writes.values())
    await reference.close()
    assert count > 0
    for crash_after in range(1, count + 1):
        lab, truth = await run_steps(steps, crash_after)
        assert summary(lab) == wanted, f"killed after write {crash_after} of {count}"
        if name == "rollout":
            assert truth.fewest_ready >= 1
            assert truth.most_groups <= 3
        await lab.close()
