"""Sets that ask for more pods than there is memory: the cluster goes on serving."""

import asyncio

import pytest
from robust_cluster import CONFIG_MAPS, Cluster, config_map

SETS = "/apis/apps/v1/namespaces/default/statefulsets"


def stateful_set(replicas: int, **spec: object) -> dict[str, object]:
    labels = {"app": "a"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "a"}]}}
    spec |= {"replicas": replicas, "serviceName": "a", "podManagementPolicy": "Parallel"}
    spec |= {"selector": {"matchLabels": labels}, "template": pod}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize("replicas", [1_000_000, 2**31 - 1])
async def test_a_set_of_any_size_leaves_the_cluster_answering(cluster: Cluster, replicas):
    assert (await cluster.ask("POST", SETS, stateful_set(replicas)))[0] == 201
    pods = cluster.embedded.api.store.bucket("pods").entries
    async with asyncio.timeout(60):
        while not pods:
            await asyncio.sleep(0)
        assert (await cluster.ask("POST", CONFIG_MAPS, config_map("a")))[0] == 201
        # The whole of the first window is not made at once either.
        assert len(pods) < 500
        assert (await cluster.patch(f"{SETS}/a", {"spec": {"replicas": 0}}))[0] == 200
    assert cluster.is_alive
