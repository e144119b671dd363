"""
The controller may be killed after any write: what comes after it ends in the same state.

Each scenario is run once without a crash to count its writes, and then once for
each of them, with a controller that dies right after it and another that starts
with nothing but what the cluster remembers.
"""

from collections.abc import Awaitable, Callable

import pytest
from operator_lab import Lab, make_lws, set_image, set_replicas

from kohort.cluster import kinds
from kohort.cluster.objects import Object

Step = Callable[[Lab], Awaitable[None]]


async def create(lab: Lab) -> None:
    await lab.apply(make_lws(groups=2, size=2))


async def roll(lab: Lab) -> None:
    await lab.edit("x", set_image("engine:2"))


async def scale_down(lab: Lab) -> None:
    await lab.edit("x", set_replicas(1))


async def lose_a_worker(lab: Lab) -> None:
    await lab.delete(kinds.POD, "x-1-1", grace_seconds=0)


SCENARIOS: dict[str, tuple[Step, ...]] = {
    "create": (create,),
    "rollout": (create, roll),
    "scale down": (create, scale_down),
    "recovery": (create, lose_a_worker),
}


async def run_steps(steps: tuple[Step, ...], crash_after: int | None) -> tuple[Lab, int]:
    """Run all steps but the last in peace, and the last with a crash."""
    lab = await Lab().open()
    for step in steps[:-1]:
        await step(lab)
        await lab.until(lab.is_available)
    lab.cluster.writes.clear()
    lab.cluster.left = crash_after
    await steps[-1](lab)
    if crash_after is not None:
        await lab.run(30)
        await lab.stop_operator()
        await lab.run(5)
        lab.start_operator()
    await lab.run(60)
    await lab.until(lab.is_available)
    await lab.run(60)
    return lab, sum(lab.cluster.writes.values())


def summary(lab: Lab) -> Object:
    """What must not depend on crashes: who exists, on which revision, with which status."""
    status = lab.lws()["status"]
    return {
        "pods": sorted(
            (p["metadata"]["name"], p["spec"]["containers"][0]["image"], p["status"]["phase"])
            for p in lab.all(kinds.POD)
        ),
        "sets": sorted(
            (s["metadata"]["name"], s["spec"]["replicas"]) for s in lab.all(kinds.STATEFUL_SET)
        ),
        "services": sorted(s["metadata"]["name"] for s in lab.all(kinds.SERVICE)),
        "counts": [status.get(k) for k in ("replicas", "readyReplicas", "updatedReplicas")],
        "conditions": sorted((c["type"], c["status"]) for c in status["conditions"]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_crash_after_any_write_changes_nothing_in_the_end(name: str):
    steps = SCENARIOS[name]
    reference, writes = await run_steps(steps, None)
    wanted = summary(reference)
    await reference.close()
    assert writes > 0
    for crash_after in range(1, writes + 1):
        lab, _ = await run_steps(steps, crash_after)
        assert summary(lab) == wanted, f"killed after write {crash_after} of {writes}"
        await lab.close()
