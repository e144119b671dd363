"""The operator brings groups up, keeps them, rolls them and lets them go."""

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas

from kohort.cluster import kinds


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()


async def test_a_workload_comes_up_whole(lab: Lab):
    await lab.apply(make_lws(groups=3, size=3))
    await lab.until(lab.is_available)
    assert len(lab.all(kinds.POD)) == 9
    assert len(lab.all(kinds.STATEFUL_SET)) == 4
    assert lab.lws()["status"]["readyReplicas"] == 3


async def test_at_rest_nothing_is_written(lab: Lab):
    await lab.apply(make_lws())
    await lab.until(lab.is_available)
    await lab.run(60)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_a_rollout_ends_with_every_group_on_the_new_revision(lab: Lab):
    await lab.apply(make_lws(groups=3))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    images = {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}
    assert images == {"engine:2"}


async def test_a_deleted_worker_takes_its_whole_group_along(lab: Lab):
    await lab.apply(make_lws(groups=2))
    await lab.until(lab.is_available)
    before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in lab.all(kinds.POD)}
    await lab.delete(kinds.POD, "x-1-2")
    await lab.run(120)
    after = {p["metadata"]["name"]: p["metadata"]["uid"] for p in lab.all(kinds.POD)}
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"x-1", "x-1-1", "x-1-2"}


async def test_a_worker_that_is_gone_at_once_is_missed_all_the_same(lab: Lab):
    """Upstream lets the lone worker be replaced, and the old group lives on."""
    await lab.apply(make_lws(groups=2))
    await lab.until(lab.is_available)
    leader = lab.find(kinds.POD, "x-1")
    await lab.delete(kinds.POD, "x-1-2", grace_seconds=0)
    await lab.run(120)
    again = lab.find(kinds.POD, "x-1")
    assert leader and again and again["metadata"]["uid"] != leader["metadata"]["uid"]


async def test_scaling_changes_the_number_of_groups(lab: Lab):
    await lab.apply(make_lws(groups=3))
    await lab.until(lab.is_available)
    await lab.edit("x", set_replicas(1))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 3)
    await lab.edit("x", set_replicas(2))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 6)


async def test_deleting_a_workload_takes_everything_with_it(lab: Lab):
    await lab.apply(make_lws())
    await lab.until(lab.is_available)
    await lab.delete(LWS, "x")
    await lab.run(120)
    for kind in (kinds.POD, kinds.STATEFUL_SET, kinds.CONTROLLER_REVISION):
        assert lab.all(kind) == []
