"""Objects of custom kinds that have a pod's field names, and none of their meanings."""

import asyncio

import pytest
from robust_cluster import THINGS, Cluster, start_cluster, thing

ODD: list[dict[str, object]] = [
    {"status": "ok"},
    {"spec": [1]},
    {"spec": {"nodeName": None}},
    {"status": {"phase": 1}},
    {"status": {"conditions": [{"type": "Ready", "status": True}]}},
    {"status": {"conditions": {"type": "Ready"}}},
]
OPEN = {"type": "object", "properties": {"spec": {}, "status": {}}}
for _part in OPEN["properties"].values():  # type: ignore[attr-defined]
    _part["x-kubernetes-preserve-unknown-fields"] = True


async def became_ready(cluster: Cluster, name: str) -> bool:
    """Whether all parts work: a new pod is placed and started."""
    pods = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "a", "image": "a"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    await cluster.ask("POST", pods, pod)
    cluster.embedded.clock.step(60.0)
    while cluster.is_alive:
        _, found = await cluster.ask("GET", f"{pods}/{name}")
        if found.get("status", {}).get("phase") == "Running":
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.mark.parametrize("odd", ODD, ids=str)
async def test_an_object_that_is_not_shaped_like_a_pod_ends_no_cluster(tmp_path, odd):
    async with start_cluster(tmp_path) as cluster:
        await cluster.define(OPEN)
        assert (await cluster.ask("POST", THINGS, thing("a", **odd)))[0] == 201
        assert (await cluster.patch(f"{THINGS}/a", {"metadata": {"labels": {"a": "b"}}}))[0] == 200
        assert await became_ready(cluster, "first")
    async with start_cluster(tmp_path) as cluster:
        assert (await cluster.patch(f"{THINGS}/a", {"metadata": {"labels": {"a": "c"}}}))[0] == 200
        assert await became_ready(cluster, "second")


@pytest.mark.parametrize("side", ["scaleUp", "scaleDown"])
async def test_an_empty_list_of_policies_is_refused_where_none_has_defaults(cluster: Cluster, side):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    rules: dict[str, object] = {}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "behavior": {side: rules}}
    scaler = {"metadata": {"name": "web"}, "spec": spec}
    scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    code, made = await cluster.ask("POST", f"{scalers}?dryRun=All", scaler)
    assert (code, bool(made["spec"]["behavior"][side]["policies"])) == (201, True)
    rules["policies"] = []
    code, refused = await cluster.ask("POST", scalers, scaler)
    assert code == 422
    assert f"spec.behavior.{side}.policies: Required value" in refused["message"]
