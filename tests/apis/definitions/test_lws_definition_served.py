"""The CRD of LeaderWorkerSet on our own server: what it keeps, fills in and refuses."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.inprocess import InProcessCluster
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster.errors import Invalid
from kohort.cluster.kinds import DEFINITION, NAMESPACE
from kohort.cluster.objects import Object

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CONTAINERS = [{"name": "c", "image": "engine:1", "ports": [{"containerPort": 80}]}]


@pytest.fixture
async def cluster() -> AsyncIterator[InProcessCluster]:
    api = ApiServer(Store(), Registry(builtin_resources()), lambda: NOW, Random(1))
    cluster = InProcessCluster(api)
    await cluster.create(NAMESPACE, "", {"metadata": {"name": "lab"}})
    await cluster.create(DEFINITION, "", LEADER_WORKER_SET.definition())
    yield cluster


def workload(template: Object | None = None, **spec: Any) -> Object:
    group = {"workerTemplate": {"spec": {"containers": CONTAINERS}}, **(template or {})}
    return {"metadata": {"name": "x"}, "spec": {"leaderWorkerTemplate": group, **spec}}


async def make(cluster: InProcessCluster, obj: Object) -> Object:
    kind = LEADER_WORKER_SET.kind
    return await cluster.create(
        kind, "lab", {"apiVersion": kind.api_version, "kind": kind.name, **obj}
    )


async def test_what_is_not_said_is_filled_in(cluster: InProcessCluster):
    rollout: dict[str, Any] = {"rollingUpdateConfiguration": {}}
    spec = (await make(cluster, workload(rolloutStrategy=rollout)))["spec"]
    template = spec["leaderWorkerTemplate"]
    assert (spec["replicas"], spec["startupPolicy"]) == (1, "LeaderCreated")
    assert (template["size"], template["restartPolicy"]) == (1, "RecreateGroupOnPodRestart")
    assert spec["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
    }
    ports = template["workerTemplate"]["spec"]["containers"][0]["ports"]
    assert ports == [{"containerPort": 80, "protocol": "TCP"}]
    assert "networkConfig" not in spec


async def test_templates_keep_the_metadata_that_a_template_may_set(cluster: InProcessCluster):
    metadata = {"labels": {"a": "b"}, "generateName": "no-"}
    worker = {"metadata": metadata, "spec": {"containers": CONTAINERS}}
    made = await make(cluster, workload({"workerTemplate": worker}))
    kept = made["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]
    assert kept == {"labels": {"a": "b"}}


BAD: list[tuple[Object, str]] = [
    (workload(replicas=-1), "spec.replicas: Invalid value: -1"),
    (workload(replicas=1_000_001), "should be less than or equal to 1000000"),
    (workload(replicas="3"), 'spec.replicas: Invalid value: "string"'),
    (
        workload({"restartPolicy": "Never"}),
        'supported values: "Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", '
        '"None"',
    ),
    (workload(startupPolicy="Later"), 'supported values: "LeaderCreated", "LeaderReady"'),
    (workload(networkConfig={}), "spec.networkConfig.subdomainPolicy: Required value"),
    (workload(rolloutStrategy={"type": "OnDelete"}), 'supported values: "RollingUpdate"'),
    (workload({"subGroupPolicy": {"subGroupPolicyType": "x"}}), "subGroupPolicyType"),
    ({"metadata": {"name": "x"}}, "spec: Required value"),
    ({"metadata": {"name": "x"}, "spec": {}}, "spec.leaderWorkerTemplate: Required value"),
    (
        workload({"workerTemplate": {"spec": {"containers": [*CONTAINERS, *CONTAINERS]}}}),
        "Duplicate value",
    ),
    (workload({"workerTemplate": {"spec": {}}}), "workerTemplate.spec.containers: Required value"),
]


@pytest.mark.parametrize(("obj", "words"), BAD, ids=[words[:40] for _, words in BAD])
async def test_a_wrong_value_is_refused(cluster: InProcessCluster, obj: Object, words: str):
    with pytest.raises(Invalid) as refusal:
        await make(cluster, obj)
    assert words in str(refusal.value)
