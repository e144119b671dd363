"""Every ModelServing that upstream shows as an example becomes ready."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from serving_lab import KIND, ServingLab

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.port import PatchType
from serving_examples import REQUIREMENT_001

SHARED = os.environ.get("KOHORT_SHARED")
SCARCE = "huawei.com/ascend-1980"


def samples() -> list[tuple[str, Object]]:
    if SHARED is None:
        return []
    folder = Path(SHARED, "data/kthena/examples/model-serving")
    found: list[tuple[str, Object]] = []
    for path in sorted(folder.glob("*.yaml")):
        documents: list[Any] = list(yaml.safe_load_all(path.read_text()))
        found += [(path.stem, d) for d in documents if d and d.get("kind") == KIND.name]
    return found


async def offer(lab: ServingLab) -> None:
    """Give every node the device that one sample asks for."""
    key = SCARCE.replace("/", "~1")
    for node in lab.all(kinds.NODE):
        operations = [
            {"op": "add", "path": f"/status/{part}/{key}", "value": "16"}
            for part in ("capacity", "allocatable")
        ]
        target = lab.api.target(kinds.NODE, "", name_of(node), "status")
        await lab.api.patch(target, PatchBody(PatchType.JSON, operations), WriteOptions())


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@pytest.mark.parametrize(("name", "sample"), samples() or [("none", {})], ids=lambda v: str(v)[:40])
async def test_a_sample_of_upstream_becomes_ready(lab: ServingLab, name: str, sample: Object):
    await offer(lab)
    sample = {**sample, "metadata": {**sample["metadata"], "namespace": "default"}}
    made = await lab.apply(sample)
    own, wanted = name_of(made), made["spec"]["replicas"]
    await lab.until(lambda: lab.status(own).get("availableReplicas") == wanted, 300)


async def test_the_example_of_the_requirement_becomes_ready(lab: ServingLab):
    await lab.apply(yaml.safe_load(REQUIREMENT_001))
    await lab.run(30)
    pods = lab.pods()
    assert sorted(pods) == [f"lws-compatible-serving-0-worker-0-{i}" for i in range(4)]
    indexes = [labels_of(p)["leaderworkerset.sigs.k8s.io/worker-index"] for p in pods.values()]
    assert sorted(indexes) == ["0", "1", "2", "3"]
    assert {p["status"]["phase"] for p in pods.values()} == {"Running"}
