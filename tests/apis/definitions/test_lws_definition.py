"""The CRD of LeaderWorkerSet, against upstream's: every difference has a reason."""

import os
from pathlib import Path

import pytest
import yaml
from upstream_definitions import find_differences

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.objects import Object

SHARED = os.environ.get("KOHORT_SHARED")
UPSTREAM = Path(SHARED or ".", "data/lws/leaderworkerset.x-k8s.io_leaderworkersets.yaml")

ROOT = "spec.versions.v1.schema.openAPIV3Schema"
SCHEMA = f"{ROOT}.properties"
DIFFERENCES = {
    "metadata.annotations": "names the tool that wrote upstream's; we use another",
    "metadata.labels": "says that Kohort made it, so that an install may change it",
    f"{ROOT}.required": "an object without a spec asks for nothing and cannot be planned",
    "spec.names.categories": "`kubectl get inference` shows all workloads, `get all` too",
    f"{SCHEMA}.spec.properties.networkTopology": "ours: how near pods of a group stand",
    f"{SCHEMA}.spec.properties.rolloutStrategy.required": "its default fills `type` in first",
}


def order_of(crd: Object) -> list[str]:
    return [column["name"] for column in crd["spec"]["versions"][0]["additionalPrinterColumns"]]


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
def test_every_difference_from_upstream_has_a_reason():
    theirs = yaml.load(UPSTREAM.read_text(), Loader=yaml.CSafeLoader)
    ours = LEADER_WORKER_SET.definition()
    assert set(find_differences(ours, theirs)) == set(DIFFERENCES)
    assert order_of(ours) == order_of(theirs)


def test_a_difference_is_found_wherever_it_is():
    ours, changed = LEADER_WORKER_SET.definition(), LEADER_WORKER_SET.definition()
    spec = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    template = spec["properties"]["leaderWorkerTemplate"]["properties"]["leaderTemplate"]
    template["properties"]["spec"]["properties"]["containers"]["x-kubernetes-list-type"] = "atomic"
    spec["properties"]["replicas"]["maximum"] = 1
    assert [path.rpartition(".properties.")[2] for path in find_differences(ours, changed)] == [
        "containers.x-kubernetes-list-type",
        "replicas.maximum",
    ]


def test_our_fields_are_described_and_built_in_ones_are_not():
    root = LEADER_WORKER_SET.definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = root["properties"]["spec"]["properties"]
    template = spec["leaderWorkerTemplate"]["properties"]
    holders = [spec, template, root["properties"]["status"]["properties"]]
    assert all(field["description"] for fields in holders for field in fields.values())
    assert "description" not in str(template["workerTemplate"]["properties"])


def test_a_definition_is_made_afresh_for_each_asker():
    first = LEADER_WORKER_SET.definition()
    first["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"].clear()
    second = LEADER_WORKER_SET.definition()
    assert second["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
