"""The operator may end after any single write, and a new one goes on without harm."""

import pytest
from group_lab import GroupLab, group, leader_worker, standalone, start

from kohort.apis.rolebasedgroup import labels
from kohort.cluster import kinds

ROLES = (leader_worker("engine", 2), standalone("router", 1))


async def survive(lab: GroupLab, writes: int, image: str) -> int:
    """Let the operator end after so many writes, start another; the fewest engines ready."""
    least = 99
    lab.cluster.left = writes
    for _ in range(240):
        await lab.run(0.5)
        counts = {r["name"]: r for r in lab.status().get("roleStatuses", ())}
        least = min(least, counts.get("engine", {}).get("readyReplicas", 0))
        if lab.cluster.is_dead:
            await lab.stop_operator()
            lab.start_operator()
        if lab.is_done() and lab.images("engine") == {image}:
            return least
    raise AssertionError(f"it never ended after {writes} writes")


@pytest.mark.parametrize("writes", range(1, 22))
async def test_what_is_half_made_is_completed(lab: GroupLab, writes: int):
    lab.cluster.left = writes
    await lab.apply(group(*ROLES))
    await survive(lab, writes, "engine:1")
    assert len(lab.pods()) == 5
    assert len(lab.all(labels.INSTANCE)) == 3
    assert len(lab.all(labels.INSTANCE_SET)) == 2
    assert len(lab.all(kinds.CONTROLLER_REVISION)) == 3  # of the group and of both sets


@pytest.mark.parametrize("kind", ["InPlaceIfPossible", "RecreatePod"])
@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5, 6, 7, 8, 10, 13])
async def test_a_rollout_that_was_cut_off_ends_within_its_budget(
    lab: GroupLab, writes: int, kind: str
):
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"type": kind, "maxUnavailable": 1}}
    await start(lab, leader_worker("engine", 2, rolloutStrategy=strategy))
    before = lab.uids()
    await lab.set_image("engine:2", pattern="leaderWorkerPattern")
    least = await survive(lab, writes, "engine:2")
    assert least >= 1
    assert (lab.uids() == before) == (kind == "InPlaceIfPossible")
