"""The definition of LeaderWorkerSet, against upstream's fields as a table written by hand."""

from typing import Any

import pytest

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.cluster.objects import Object

TEMPLATE = "leaderWorkerTemplate"
ROLLING = "rolloutStrategy.rollingUpdateConfiguration"
INT32 = {"type": "integer", "format": "int32"}
AMOUNT = {"x-kubernetes-int-or-string": True}
FIELDS: dict[str, Object] = {
    "replicas": {**INT32, "default": 1, "minimum": 0, "maximum": 1_000_000},
    f"{TEMPLATE}.size": {**INT32, "default": 1},
    f"{TEMPLATE}.restartPolicy": {
        "type": "string",
        "default": "RecreateGroupOnPodRestart",
        "enum": ["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"],
    },
    f"{TEMPLATE}.subGroupPolicy.subGroupPolicyType": {
        "type": "string",
        "default": "LeaderWorker",
        "enum": ["LeaderWorker", "LeaderExcluded"],
    },
    f"{TEMPLATE}.subGroupPolicy.subGroupSize": INT32,
    f"{TEMPLATE}.volumeClaimTemplates": {"type": "array"},
    f"{TEMPLATE}.persistentVolumeClaimRetentionPolicy.whenDeleted": {"type": "string"},
    f"{TEMPLATE}.persistentVolumeClaimRetentionPolicy.whenScaled": {"type": "string"},
    "rolloutStrategy.type": {
        "type": "string",
        "default": "RollingUpdate",
        "enum": ["RollingUpdate"],
    },
    f"{ROLLING}.partition": {**INT32, "default": 0},
    f"{ROLLING}.maxUnavailable": {**AMOUNT, "default": 1},
    f"{ROLLING}.maxSurge": {**AMOUNT, "default": 0},
    "startupPolicy": {
        "type": "string",
        "default": "LeaderCreated",
        "enum": ["LeaderCreated", "LeaderReady"],
    },
    "networkConfig.subdomainPolicy": {"type": "string", "enum": ["Shared", "UniquePerReplica"]},
}
REQUIRED = {"": [TEMPLATE], TEMPLATE: ["workerTemplate"], "networkConfig": ["subdomainPolicy"]}


def find(path: str) -> Object:
    """The schema of a field of the spec."""
    version = LEADER_WORKER_SET.definition()["spec"]["versions"][0]
    found: Object = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    for name in path.split(".") if path else ():
        found = found["properties"][name]
    return found


def sort_enum(schema: Object) -> Object:
    return {k: sorted(v) if k == "enum" else v for k, v in schema.items()}


@pytest.mark.parametrize("path", FIELDS)
def test_a_field_is_as_upstream_has_it(path: str):
    found, wanted = find(path), FIELDS[path]
    same: dict[str, Any] = {key: found.get(key) for key in wanted}
    assert sort_enum(same) == sort_enum(wanted)
    assert {"default", "enum", "minimum", "maximum"} & found.keys() <= wanted.keys()


@pytest.mark.parametrize("path", REQUIRED)
def test_what_upstream_requires_is_required(path: str):
    assert sorted(find(path)["required"]) == REQUIRED[path]


def test_names_and_subresources_are_upstreams():
    spec = LEADER_WORKER_SET.definition()["spec"]
    (version,) = spec["versions"]
    names = spec["names"]
    assert (spec["group"], spec["scope"]) == ("leaderworkerset.x-k8s.io", "Namespaced")
    assert (names["kind"], names["listKind"]) == ("LeaderWorkerSet", "LeaderWorkerSetList")
    assert (names["plural"], names["singular"]) == ("leaderworkersets", "leaderworkerset")
    assert names["shortNames"] == ["lws"]
    assert (version["name"], version["served"], version["storage"]) == ("v1", True, True)
    assert version["subresources"] == {
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.hpaPodSelector",
        },
    }


def test_columns_are_upstreams():
    columns = LEADER_WORKER_SET.definition()["spec"]["versions"][0]["additionalPrinterColumns"]
    assert [(c["name"], c["type"], c["jsonPath"]) for c in columns] == [
        ("Ready", "integer", ".status.readyReplicas"),
        ("Desired", "integer", ".spec.replicas"),
        ("Up-to-date", "integer", ".status.updatedReplicas"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ]
