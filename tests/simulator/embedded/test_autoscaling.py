"""Autoscalers on a whole cluster: with our operator, with sets, and with a clock that stands."""

import time
from collections.abc import Iterator

import pytest

from kohort.apiserver.host.client import Client
from kohort.testing import Cluster, start_cluster

SECONDS_MAX = 60
MAIN = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "500m"}}}
LAG = {
    "type": "External",
    "external": {
        "metric": {"name": "lag"},
        "target": {"type": "AverageValue", "averageValue": "10"},
    },
}
LWS = "leaderworkerset.x-k8s.io/v1"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster(nodes=4, operator=True) as started:
        yield started


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    found = Client(cluster.url, cluster.token, cluster.ca)
    yield found
    found.close()


def wait_for(claim) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.02)


def autoscale(client: Client, namespace: str, kind: str, name: str, **notes: str) -> str:
    """Make an autoscaler by the metric ``lag``; returns its path."""
    version, _, kind_name = kind.rpartition(" ")
    target = {"apiVersion": version, "kind": kind_name, "name": name}
    said = {f"sim.kohort.dev/{key.replace('_', '-')}": text for key, text in notes.items()}
    spec = {"maxReplicas": 5, "scaleTargetRef": target, "metrics": [LAG]}
    path = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    client.create(path, {"metadata": {"name": name, "annotations": said}, "spec": spec})
    return f"{path}/{name}"


def test_a_leader_worker_set_is_scaled_by_an_autoscaler(cluster, client):
    with cluster.namespace("lws") as namespace:
        path = f"/apis/{LWS}/namespaces/{namespace}/leaderworkersets"
        template = {"size": 2, "workerTemplate": {"spec": {"containers": [MAIN]}}}
        spec = {"replicas": 1, "leaderWorkerTemplate": template}
        kind = {"apiVersion": LWS, "kind": "LeaderWorkerSet"}
        client.create(path, {**kind, "metadata": {"name": "llama"}, "spec": spec})
        wait_for(lambda: client.read(f"{path}/llama").get("status", {}).get("readyReplicas") == 1)
        hpa = autoscale(client, namespace, f"{LWS} LeaderWorkerSet", "llama", metric_lag="25")
        wait_for(lambda: client.read(f"{path}/llama")["status"].get("readyReplicas") == 3)
        assert client.read(f"{path}/llama")["spec"]["replicas"] == 3
        wait_for(lambda: client.read(hpa)["status"]["currentReplicas"] == 3)
        client.patch(hpa, {"metadata": {"annotations": {"sim.kohort.dev/metric-lag": "0"}}})
        cluster.clock.step("6m")
        wait_for(lambda: client.read(f"{path}/llama")["spec"]["replicas"] == 1)


def test_a_stateful_set_is_scaled_by_a_metric_of_its_pods(cluster, client):
    with cluster.namespace("sets") as namespace:
        labels = {"app": "db"}
        notes = {"sim.kohort.dev/metric-queue": "12"}
        template = {"metadata": {"labels": labels, "annotations": notes}}
        template["spec"] = {"containers": [MAIN]}
        path = f"/apis/apps/v1/namespaces/{namespace}/statefulsets"
        spec = {"serviceName": "db", "selector": {"matchLabels": labels}, "template": template}
        client.create(path, {"metadata": {"name": "db"}, "spec": spec})
        wait_for(lambda: client.read(f"{path}/db").get("status", {}).get("readyReplicas") == 1)
        hpa = autoscale(client, namespace, "apps/v1 StatefulSet", "db")
        goal = {"type": "AverageValue", "averageValue": "6"}
        pods = {"type": "Pods", "pods": {"metric": {"name": "queue"}, "target": goal}}
        client.patch(hpa, {"spec": {"metrics": [pods]}})
        wait_for(lambda: client.read(f"{path}/db")["spec"]["replicas"] == 5)


def test_while_the_clock_stands_a_target_is_scaled_once_for_each_look(cluster, client):
    with cluster.namespace("clock") as namespace:
        labels = {"app": "web"}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [MAIN]}}
        spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
        client.create(path, {"metadata": {"name": "web"}, "spec": spec})
        wait_for(lambda: client.read(f"{path}/web").get("status", {}).get("readyReplicas") == 1)
        with cluster.clock.paused() as clock:
            hpa = autoscale(client, namespace, "apps/v1 Deployment", "web", metric_lag="10")
            wait_for(lambda: client.read(hpa)["status"].get("currentMetrics"))
            before = client.read(hpa)["metadata"]["resourceVersion"]
            clock.step("10m")
            assert client.read(hpa)["metadata"]["resourceVersion"] == before
            client.patch(f"{path}/web", {"spec": {"replicas": 9}})
            assert client.read(f"{path}/web")["spec"]["replicas"] == 9
            clock.step("15s")
            assert client.read(f"{path}/web")["spec"]["replicas"] == 5
