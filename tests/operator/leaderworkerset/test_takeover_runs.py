"""Taking over a running cluster: what upstream left behind is loaded as it is, and we start."""

import copy
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from operator_lab import LWS, Lab
from operator_truth import Budget, Truth

from kohort.apis.leaderworkerset import spec
from kohort.apiserver.api.writes.storage import selectable_fields
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object

SHARED = os.environ.get("KOHORT_SHARED")
recorded = pytest.mark.skipif(not SHARED, reason="KOHORT_SHARED names no folder of recordings")
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        LWS,
        kinds.POD,
        kinds.STATEFUL_SET,
        kinds.SERVICE,
        kinds.CONTROLLER_REVISION,
        kinds.CLAIM,
    )
}


@cache
def samples() -> Any:
    return json.loads((Path(SHARED or "") / "data/lws/recorded_takeover.json").read_text())


async def open_lab(sample: Object, moment: str) -> Lab:
    """A cluster that holds the objects of a sample, uids and all; no controller runs yet."""
    lab = await Lab().open(operator=False)
    lab.namespace = sample["namespace"]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": lab.namespace}}
    await lab.apply(namespace)
    await lab.run(1)
    await add_nodes(lab, sample[moment])
    load(lab, sample[moment])
    return lab


def load(lab: Lab, objects: list[Object]) -> None:
    """Store objects as they are."""
    for obj in copy.deepcopy(objects):
        resource = lab.api.registry.of(KINDS[obj["kind"]])
        key = (obj["metadata"]["namespace"], obj["metadata"]["name"])
        fields = selectable_fields(resource, obj)
        typed = {"kind": obj.pop("kind"), "apiVersion": obj.pop("apiVersion"), **obj}
        lab.api.store.put(resource.bucket, key, typed, fields)


async def add_nodes(lab: Lab, objects: list[Object]) -> None:
    """The nodes that the recorded pods run on."""
    names = {
        o["spec"]["nodeName"] for o in objects if o["kind"] == "Pod" and "nodeName" in o["spec"]
    }
    like = lab.all(kinds.NODE)[0]
    for name in sorted(names):
        labels = {**like["metadata"]["labels"], "kubernetes.io/hostname": name}
        labels["cloud.google.com/gke-nodepool"] = f"pool-{name}"
        node = {**like, "metadata": {"name": name, "labels": labels}}
        await lab.apply(node)


def by_uid(lab: Lab) -> dict[str, str]:
    return {p["metadata"]["uid"]: p["metadata"]["name"] for p in lab.all(kinds.POD)}


@recorded
@pytest.mark.parametrize("number", range(16))
async def test_at_rest_nothing_is_written(number: int):
    lab = await open_lab(samples()[number], "at_rest")
    before = by_uid(lab)
    # Pods stay exactly as they were recorded, also where none could be made.
    still = {"kubelet"} if before else {"kubelet", "statefulsets"}
    for runner in lab.world.runners:
        if runner.component.name in still:
            lab.hold_component(runner)
    lab.start_operator()
    await lab.run(600)
    assert dict(lab.cluster.tried) == {}
    assert by_uid(lab) == before
    await lab.close()


@recorded
@pytest.mark.parametrize("number", range(16))
async def test_a_rollout_that_upstream_began_is_ended_within_its_budget(number: int):
    sample = samples()[number]
    lab = await open_lab(sample, "in_rollout")
    lws = lab.lws(sample["name"])
    truth = Truth(lab, sample["name"])
    wanted = spec.replicas_of(lws)
    budget = Budget(wanted, spec.max_unavailable_of(lws), spec.max_surge_of(lws))
    lab.start_operator()
    if sample["ready"]:
        # One group was on its way when upstream was stopped.
        truth.promise(budget)
    await lab.run(300)
    assert truth.breaches == []
    assert len(truth.leaders) <= 2 * budget.most
    # One of the examples has a placeholder for an image, which no kubelet starts.
    can_start = "volcano" not in sample["name"] and "<image>" not in str(lws)
    if sample["ready"] and can_start:
        assert lab.is_available(sample["name"])
        status = lab.lws(sample["name"])["status"]
        assert status.get("updatedReplicas", 0) == wanted
    await lab.close()
