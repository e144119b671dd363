"""A LeaderWorkerSet whose pods we make ourselves: it comes up, rests, grows, shrinks and goes."""

import pytest
from operator_lab import LWS, Lab, make_lws, set_image, set_replicas
from pods_truth import make, names, uids, writes

from kohort.apis.api import Settings
from kohort.cluster import kinds


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()


async def test_a_workload_comes_up_whole_without_any_set(lab: Lab):
    await lab.apply(make(groups=2, size=3))
    await lab.until(lab.is_available)
    assert names(lab) == ["x-0", "x-0-1", "x-0-2", "x-1", "x-1-1", "x-1-2"]
    assert lab.all(kinds.STATEFUL_SET) == []
    assert lab.lws()["status"]["readyReplicas"] == 2


async def test_creation_costs_one_write_for_each_object(lab: Lab):
    await lab.apply(make(groups=3, size=3))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert writes(lab) == {
        ("create", "ControllerRevision"): 1,
        ("create", "Service"): 1,
        ("create", "Pod"): 9,
    }


async def test_a_rollout_costs_a_note_and_a_delete_for_each_step(lab: Lab):
    await lab.apply(make(groups=3, size=3))
    await lab.until(lab.is_available)
    lab.cluster.writes.clear()
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(60)
    assert writes(lab) == {
        ("create", "ControllerRevision"): 1,
        # Three steps; the old revision is marked as one that served before the first, since an undo
        # may ask for it meanwhile, and is put aside after the last.
        ("patch", "ControllerRevision"): 5,
        ("delete", "Pod"): 3,
        ("create", "Pod"): 9,
    }


async def test_recovery_costs_a_delete_and_the_pods_of_the_group(lab: Lab):
    await lab.apply(make(groups=3, size=3))
    await lab.until(lab.is_available)
    lab.cluster.writes.clear()
    await lab.delete(kinds.POD, "x-1-1")
    await lab.run(60)
    assert writes(lab) == {("delete", "Pod"): 1, ("create", "Pod"): 3}


async def test_scaling_down_costs_a_note_and_a_delete_for_each_group(lab: Lab):
    await lab.apply(make(groups=3, size=3))
    await lab.until(lab.is_available)
    lab.cluster.writes.clear()
    await lab.edit("x", set_replicas(1))
    await lab.run(60)
    assert writes(lab) == {("patch", "ControllerRevision"): 1, ("delete", "Pod"): 2}


async def test_the_flag_decides_for_new_objects_and_is_written_on_them():
    lab = await Lab(Settings(carrier="pods")).open()
    await lab.apply(make_lws())
    await lab.until(lab.is_available)
    assert lab.lws()["metadata"]["annotations"]["kohort.dev/carrier"] == "pods"
    assert lab.all(kinds.STATEFUL_SET) == []
    await lab.close()


async def test_no_webhook_is_needed(lab: Lab):
    made = await lab.apply(make())
    lab.break_webhooks()
    await lab.until(lab.is_available)
    variables = lab.all(kinds.POD)[0]["spec"]["containers"][0]["env"]
    assert made and variables[0]["name"] == "LWS_LEADER_ADDRESS"


async def test_an_unknown_carrier_is_reported(lab: Lab):
    lab.break_webhooks()
    await lab.apply(make(annotations={"kohort.dev/carrier": "pigeons"}))
    await lab.run(10)
    stalled = lab.lws()["status"]["conditions"][0]
    assert stalled["reason"] == "UnknownCarrier"
    assert "pods or statefulsets" in stalled["message"]


async def test_at_rest_nothing_is_written(lab: Lab):
    await lab.apply(make())
    await lab.until(lab.is_available)
    await lab.run(60)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_a_rollout_ends_with_every_group_on_the_new_revision(lab: Lab):
    await lab.apply(make(groups=3))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    images = {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}
    assert images == {"engine:2"}
    assert len(lab.all(kinds.POD)) == 9


async def test_scaling_changes_the_number_of_groups(lab: Lab):
    await lab.apply(make(groups=3))
    await lab.until(lab.is_available)
    kept = uids(lab)
    await lab.edit("x", set_replicas(1))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 3)
    assert uids(lab) == {name: kept[name] for name in ("x-0", "x-0-1", "x-0-2")}
    await lab.edit("x", set_replicas(2))
    await lab.until(lambda: lab.is_available() and len(lab.all(kinds.POD)) == 6)


async def test_deleting_a_workload_takes_everything_with_it(lab: Lab):
    await lab.apply(make())
    await lab.until(lab.is_available)
    await lab.delete(LWS, "x")
    await lab.run(120)
    for kind in (kinds.POD, kinds.SERVICE, kinds.CONTROLLER_REVISION):
        left = [o for o in lab.all(kind) if o["metadata"]["name"] != "kubernetes"]
        assert left == []


async def test_a_group_that_is_about_to_be_scaled_away_is_not_made_again(lab: Lab):
    await lab.apply(make(groups=3, size=1))
    await lab.until(lab.is_available)
    await lab.stop_operator()
    await lab.delete(kinds.POD, "x-2")
    await lab.edit("x", set_replicas(1))
    await lab.run(60)
    lab.cluster.writes.clear()
    lab.start_operator()
    await lab.run(60)
    assert names(lab) == ["x-0"]
    assert ("create", "Pod") not in lab.cluster.writes
