"""The operator may end after any single write, and a new one goes on without harm."""

import pytest
from serving_lab import ServingLab, role, serving

from kohort.cluster import kinds

ROLES = (role("prefill"), role("decode", 2))


async def replace_operator(lab: ServingLab) -> None:
    await lab.stop_operator()
    lab.start_operator()


async def survive(lab: ServingLab, writes: int, image: str) -> int:
    """Let the operator end after so many writes, start another; the fewest groups available."""
    least = 2
    lab.cluster.left = writes
    for _ in range(240):
        await lab.run(0.5)
        least = min(least, lab.status().get("availableReplicas", 0))
        if lab.cluster.is_dead:
            await replace_operator(lab)
        if lab.is_done() and lab.images() == {image}:
            return least
    raise AssertionError(f"it never ended after {writes} writes")


@pytest.mark.parametrize("writes", [1, 2, 4, 7, 11, 15, 19])
async def test_what_is_half_made_is_completed(lab: ServingLab, writes: int):
    lab.cluster.left = writes
    await lab.apply(serving(*ROLES))
    await survive(lab, writes, "engine:1")
    made = lab.pods()
    assert len(made) == lab.expected() == 12
    assert len([s for s in lab.all(kinds.SERVICE) if s["metadata"]["name"] != "kubernetes"]) == 6
    assert len(lab.all(kinds.CONTROLLER_REVISION)) == 1


@pytest.mark.parametrize("strategy", ["ServingGroupRollingUpdate", "RoleRollingUpdate"])
@pytest.mark.parametrize("writes", [1, 2, 3, 5, 8, 13])
async def test_a_rollout_that_was_cut_off_ends_within_its_budget(
    lab: ServingLab, writes: int, strategy: str
):
    await lab.apply(serving(role("decode", 2), rolloutStrategy={"type": strategy}))
    await lab.until(lab.is_done)
    await lab.set_image("engine:2")
    least = await survive(lab, writes, "engine:2")
    assert least >= (1 if strategy == "ServingGroupRollingUpdate" else 0)
