"""A leader set that another client deletes without its groups comes back within their budget."""

import pytest
from operator_lab import Lab, make_lws
from operator_truth import Budget, Truth

from kohort.cluster import kinds

GROUPS = 4
# A leader is ready long before its workers, so its StatefulSet would not wait for the group.
SLOW = {"metadata": {"annotations": {"sim.kohort.dev/ready-after": "20s"}}}


async def bring_up(lab: Lab, surge: int = 0) -> Truth:
    rollout = {"partition": 0, "maxUnavailable": 1, "maxSurge": surge}
    wanted = make_lws(groups=GROUPS, size=3, rollout=rollout)
    template = wanted["spec"]["leaderWorkerTemplate"]
    template["leaderTemplate"] = template["workerTemplate"]
    template["workerTemplate"] = {**SLOW, **template["workerTemplate"]}
    await lab.apply(wanted)
    await lab.until(lab.is_available)
    await lab.run(5)
    truth = Truth(lab)
    truth.promise(Budget(GROUPS, 1, surge))
    return truth


async def change_image(lab: Lab) -> None:
    path = "/spec/leaderWorkerTemplate/{}/spec/containers/0/image"
    for template in ("leaderTemplate", "workerTemplate"):
        change = {"op": "replace", "path": path.format(template), "value": "engine:2"}
        await lab.edit("x", change)


async def orphan_leaders(lab: Lab) -> None:
    await lab.delete(kinds.STATEFUL_SET, "x", propagation="Orphan")


@pytest.mark.parametrize("surge", [0, 1])
@pytest.mark.parametrize("seconds", [3, 15, 40])
async def test_a_rollout_keeps_its_budget_though_its_leader_set_is_orphaned(lab, seconds, surge):
    truth = await bring_up(lab, surge)
    await change_image(lab)
    await lab.run(seconds)
    await orphan_leaders(lab)
    await lab.until(lab.is_available)
    assert truth.breaches == []


async def test_a_template_that_changed_while_the_leader_set_was_gone_rolls_within_the_budget(lab):
    truth = await bring_up(lab)
    lab.cluster.hold("StatefulSet")
    await orphan_leaders(lab)
    await change_image(lab)
    lab.cluster.release()
    await lab.until(lab.is_available)
    assert truth.breaches == []


async def test_groups_at_rest_are_adopted_by_a_new_leader_set_and_none_is_made_anew(lab):
    await bring_up(lab)
    before = {pod["metadata"]["uid"] for pod in lab.all(kinds.POD)}
    await orphan_leaders(lab)
    await lab.run(60)
    assert lab.is_available()
    assert {pod["metadata"]["uid"] for pod in lab.all(kinds.POD)} == before
