"""A user who changes the kind of rollout of a ModelServing, at rest and in the middle of one."""

from serving_lab import KIND, ServingLab, role, start

from kohort.cluster import kinds
from kohort.cluster.objects import Object

BY_ROLE = {"type": "RoleRollingUpdate"}
BY_GROUP = {"type": "ServingGroupRollingUpdate"}


def put(path: str, value: object) -> Object:
    return {"op": "add", "path": path, "value": value}


async def change(lab: ServingLab, strategy: Object) -> None:
    await lab.set_field("/spec/rolloutStrategy", strategy)


async def test_groups_whose_roles_were_rolled_stay_when_groups_roll_from_now_on(lab: ServingLab):
    """The pods of the other role bear the name of an older revision, and are as they should be."""
    await start(lab, role("prefill"), role("decode"), rolloutStrategy=BY_ROLE)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and "engine:2" in lab.images(), 120)
    before = lab.uids()
    await change(lab, BY_GROUP)
    await lab.run(60)
    assert lab.uids() == before
    assert lab.is_done()
    await change(lab, BY_ROLE)
    await lab.run(60)
    assert lab.uids() == before


async def test_a_lost_instance_of_such_a_group_comes_back_alone(lab: ServingLab):
    await start(lab, role("prefill"), role("decode"), rolloutStrategy=BY_ROLE)
    await lab.set_image("engine:2")
    await lab.until(lambda: lab.is_done() and "engine:2" in lab.images(), 120)
    await change(lab, BY_GROUP)
    await lab.run(10)
    before = lab.uids(role="prefill")
    await lab.delete(kinds.POD, "x-0-decode-0-0")
    await lab.run(60)
    assert lab.is_done()
    assert lab.uids(role="prefill") == before


async def test_old_groups_roll_whole_when_the_strategy_changes_in_a_rollout(lab: ServingLab):
    await start(lab, role("prefill"), role("decode"), replicas=3, rolloutStrategy=BY_ROLE)
    await lab.edit(
        "x",
        put("/spec/rolloutStrategy", BY_GROUP),
        put("/spec/template/roles/0/entryTemplate/spec/containers/0/image", "engine:2"),
        put("/spec/template/roles/-", role("extra")),
        kind=KIND,
    )
    await lab.until(lambda: lab.is_done() and "engine:2" in lab.images(), 240)
    assert len(lab.uids(role="extra")) == 6
    entries = lab.pods(lambda pod: pod["metadata"]["name"].endswith("prefill-0-0"))
    images = {pod["spec"]["containers"][0]["image"] for pod in entries.values()}
    assert images == {"engine:2"}
