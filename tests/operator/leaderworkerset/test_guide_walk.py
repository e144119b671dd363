"""The guide of LeaderWorkerSet from top to bottom, on a running operator, under both strategies."""

import pytest
from operator_lab import Lab, make_lws, set_image
from operator_truth import PREFIX, Budget, Truth

from kohort.apis.api import Settings
from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulator.stages import KubeletStages

ROLLOUT = {"maxUnavailable": 2, "maxSurge": 2}


async def roll(lab: Lab) -> Truth:
    truth = Truth(lab)
    await lab.apply(make_lws(groups=4, size=2, rollout=ROLLOUT))
    await lab.until(lab.is_available)
    await lab.run(1)  # until the operator rests
    truth.promise(Budget(4, 2, 2))
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    await lab.run(30)
    return truth


async def test_compatible_takes_the_stages_of_the_guide():
    """Stages 1, 2, 3, 5 and 9; 7 and 8 are one step since lws#778.

    Both surge groups become ready at one moment, so there is no step for the last one alone.
    """
    stages = KubeletStages().without_jitter()
    lab = await Lab(Settings(strategy="compatible"), stages=stages).open()
    truth = await roll(lab)
    assert truth.steps == [(0, 4), (4, 6), (2, 6), (0, 6), (0, 4)]
    await lab.close()


async def test_compatible_shows_every_stage_of_the_guide():
    """Stages 7 and 8 are one: surge goes at once when no more than two wait."""
    lab = await Lab(Settings(strategy="compatible")).open()
    truth = Truth(lab)
    await lab.apply(make_lws(groups=4, size=1, rollout=ROLLOUT))
    await lab.until(lab.is_available)
    assert truth.steps[-1] == (0, 4), "stage 1"
    path = "/spec/leaderWorkerTemplate/workerTemplate/metadata"
    value = {"annotations": {"sim.kohort.dev/never-ready": "true"}}
    await lab.edit("x", {"op": "add", "path": path, "value": value}, set_image("engine:2"))
    await lab.run(30)
    assert truth.steps[1:] == [(4, 6), (2, 6)], "stages 2 and 3"
    # One group after the other becomes ready, as in the table.
    for name, step in (("x-4", (2, 6)), ("x-5", (0, 6)), ("x-3", (0, 6)), ("x-1", (0, 4))):
        await lab.edit(name, _note("sim.kohort.dev/never-ready", "false"), kind=kinds.POD)
        await lab.run(30)
        assert truth.steps[-1] == step, name
    for name in ("x-0", "x-2"):
        await lab.edit(name, _note("sim.kohort.dev/never-ready", "false"), kind=kinds.POD)
    await lab.until(lab.is_available)
    assert truth.steps[-1] == (0, 4), "stage 9"
    await lab.close()


def _note(key: str, value: str) -> Object:
    escaped = key.replace("/", "~1")
    return {"op": "add", "path": f"/metadata/annotations/{escaped}", "value": value}


async def test_budgeted_keeps_the_budget_of_the_guide(lab: Lab):
    truth = await roll(lab)
    assert truth.breaches == []
    assert truth.steps[:2] == [(0, 4), (4, 6)]
    assert truth.steps[-1] == (0, 4)


async def test_the_strategy_may_change_in_the_middle(lab: Lab):
    truth = Truth(lab)
    await lab.apply(make_lws(groups=4, size=2, rollout=ROLLOUT, annotations={"a": "b"}))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lambda: len(truth.steps) > 2)
    await lab.edit("x", _note("kohort.dev/rollout-strategy", "compatible"))
    await lab.run(2)
    await lab.edit("x", _note("kohort.dev/rollout-strategy", "budgeted"))
    await lab.until(lab.is_available)
    await lab.run(30)
    assert truth.steps[-1] == (0, 4)


async def test_labels_annotations_and_variables_of_the_guide(lab: Lab):
    policy = {"subGroupPolicy": {"subGroupSize": 2}}
    notes = {f"{PREFIX}exclusive-topology": "topology.kohort.dev/rack"}
    await lab.apply(make_lws(groups=2, size=4, template=policy, annotations=notes))
    await lab.until(lab.is_available)
    worker, leader = lab.find(kinds.POD, "x-1-3"), lab.find(kinds.POD, "x-1")
    assert worker and leader
    labels, annotations = worker["metadata"]["labels"], worker["metadata"]["annotations"]
    assert labels[f"{PREFIX}name"] == "x"
    assert labels[f"{PREFIX}group-index"] == "1"
    assert labels[f"{PREFIX}worker-index"] == "3"
    assert labels[f"{PREFIX}subgroup-index"] == "1"
    assert labels[f"{PREFIX}group-key"] == leader["metadata"]["labels"][f"{PREFIX}group-key"]
    assert annotations[f"{PREFIX}size"] == "4"
    assert annotations[f"{PREFIX}leader-name"] == "x-1"
    assert annotations[f"{PREFIX}subgroup-size"] == "2"
    env = {e["name"]: e["value"] for e in worker["spec"]["containers"][0]["env"]}
    assert env == {
        "LWS_LEADER_ADDRESS": "x-1.x.default",
        "LWS_GROUP_SIZE": "4",
        "LWS_WORKER_INDEX": "3",
    }


async def test_an_exclusive_group_has_its_rack_to_itself(lab: Lab):
    rack = "topology.kohort.dev/rack"
    notes = {f"{PREFIX}exclusive-topology": rack}
    await lab.apply(make_lws(groups=2, size=3, annotations=notes))
    await lab.until(lab.is_available)
    racks = {n["metadata"]["name"]: n["metadata"]["labels"][rack] for n in lab.all(kinds.NODE)}
    places: dict[str, set[str]] = {"0": set(), "1": set()}
    for pod in lab.all(kinds.POD):
        group = pod["metadata"]["labels"][f"{PREFIX}group-index"]
        places[group].add(racks[pod["spec"]["nodeName"]])
    assert [len(found) for found in places.values()] == [1, 1]
    assert places["0"] != places["1"]


async def test_exclusive_subgroups_have_their_nodes_to_themselves(lab: Lab):
    notes = {f"{PREFIX}subgroup-exclusive-topology": "kubernetes.io/hostname"}
    policy = {"subGroupPolicy": {"subGroupSize": 2}}
    await lab.apply(make_lws(groups=2, size=4, annotations=notes, template=policy))
    await lab.until(lab.is_available)
    nodes: dict[str, set[str]] = {}
    for pod in lab.all(kinds.POD):
        key = pod["metadata"]["labels"][f"{PREFIX}subgroup-key"]
        nodes.setdefault(key, set()).add(pod["spec"]["nodeName"])
    assert [len(found) for found in nodes.values()] == [1, 1, 1, 1]
    assert len(set().union(*nodes.values())) == 4


async def test_workers_wait_for_a_leader_that_must_be_ready(lab: Lab):
    truth = Truth(lab)
    early: list[str] = []

    def on_new(pod: Object) -> None:
        leader = truth.pods.get(pod["metadata"]["annotations"].get(f"{PREFIX}leader-name", ""))
        if leader is not None and not truth.was_ready(leader):
            early.append(pod["metadata"]["name"])

    truth._on_new_pod = on_new  # type: ignore[method-assign]
    await lab.apply(make_lws(groups=2, size=3, spec={"startupPolicy": "LeaderReady"}))
    await lab.until(lab.is_available)
    await lab.edit("x", set_image("engine:2"))
    await lab.until(lab.is_available)
    assert early == []


@pytest.mark.parametrize("when", ["Delete", "Retain"])
async def test_claims_live_as_long_as_the_user_says(lab: Lab, when: str):
    claim = {
        "metadata": {"name": "model"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    template = {
        "volumeClaimTemplates": [claim],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": when, "whenScaled": when},
    }
    await lab.apply(make_lws(groups=2, size=2, template=template))
    await lab.until(lab.is_available)
    names = {"model-x-0", "model-x-1", "model-x-0-1", "model-x-1-1"}
    assert {c["metadata"]["name"] for c in lab.all(kinds.CLAIM)} == names
    await lab.edit("x", {"op": "replace", "path": "/spec/replicas", "value": 1})
    await lab.run(60)
    kept = {c["metadata"]["name"] for c in lab.all(kinds.CLAIM)}
    assert kept == (names if when == "Retain" else {"model-x-0", "model-x-0-1"})
