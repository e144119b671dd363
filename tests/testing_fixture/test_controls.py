"""Tests of other projects pause time, lose nodes, and run Kohort's operator."""

import time
from collections.abc import Iterator

import pytest

from kohort.apiserver.host.client import Client
from kohort.cluster.errors import KohortError
from kohort.testing import Cluster, start_cluster

SECONDS_MAX = 30
POD = {"metadata": {"name": "one"}, "spec": {"containers": [{"name": "main", "image": "app:1"}]}}
LWS = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "llama"},
    "spec": {
        "replicas": 1,
        "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": POD["spec"]}},
    },
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster of its own, whose clock these tests may stop."""
    with start_cluster(nodes=2, gpus_per_node=4) as started:
        yield started


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    found = Client(cluster.url, cluster.token, cluster.ca)
    yield found
    found.close()


def is_ready(obj: dict) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def test_the_clock_is_paused_stepped_and_goes_on_as_before(cluster, client):
    with cluster.namespace("clock") as name, cluster.clock.paused() as clock:
        client.create(f"/api/v1/namespaces/{name}/pods", POD)
        before = clock.read()
        assert (before.is_paused, before.speed) == (True, 100)
        assert not is_ready(client.read(f"/api/v1/namespaces/{name}/pods/one"))
        after = clock.step("1m30s")
        assert after.elapsed == pytest.approx(before.elapsed + 90)
        assert is_ready(client.read(f"/api/v1/namespaces/{name}/pods/one"))
        assert clock.step(30).elapsed == pytest.approx(before.elapsed + 120)
    assert not cluster.clock.read().is_paused


def test_the_pace_is_changed_and_put_back(cluster):
    before = cluster.clock.read()
    assert cluster.clock.set_speed(7).speed == 7
    cluster.clock.pause()
    cluster.clock.restore(before)
    now = cluster.clock.read()
    assert (now.speed, now.is_paused) == (100, False)


@pytest.mark.parametrize("time", ["soon", -1])
def test_a_step_that_is_no_duration_is_refused(cluster, time):
    with pytest.raises(ValueError, match="must be a duration such as 15s or 1m30s, not "):
        cluster.clock.step(time)


def test_nodes_are_added_with_the_gpus_of_the_others(cluster, client):
    first = cluster.nodes.names()
    assert cluster.nodes.add() == ["gpu-02"]
    assert cluster.nodes.add("special", rack=7, gpus=1) == ["special"]
    assert len(cluster.nodes.add(count=2)) == 2
    assert len(cluster.nodes.names()) == len(first) + 4
    node = client.read("/api/v1/nodes/gpu-02")
    assert node["status"]["capacity"]["nvidia.com/gpu"] == "4"
    assert client.read("/api/v1/nodes/special")["status"]["capacity"]["nvidia.com/gpu"] == "1"


def test_a_node_fails_and_recovers(cluster, client):
    cluster.nodes.fail("gpu-00")
    cluster.clock.step("41s")
    assert not is_ready(client.read("/api/v1/nodes/gpu-00"))
    cluster.nodes.recover("gpu-00")
    cluster.clock.step("1s")
    assert is_ready(client.read("/api/v1/nodes/gpu-00"))


def test_a_node_that_is_not_there_cannot_fail(cluster):
    with pytest.raises(KohortError, match=r"there is no node 'gpu-0' \(did you mean 'gpu-0.'\?\)"):
        cluster.nodes.fail("gpu-0")


def test_the_operator_runs_where_it_is_asked_for():
    with start_cluster(nodes=2, operator=True) as cluster, cluster.namespace("own") as name:
        client = Client(cluster.url, cluster.token, cluster.ca)
        path = f"/apis/leaderworkerset.x-k8s.io/v1/namespaces/{name}/leaderworkersets"
        client.create(path, LWS)
        end = time.monotonic() + SECONDS_MAX
        while not (client.read(f"{path}/llama").get("status") or {}).get("readyReplicas"):
            assert time.monotonic() < end
        client.close()


def test_without_being_asked_for_the_operator_and_its_kinds_are_not_there(cluster, client):
    groups = [group["name"] for group in client.read("/apis")["groups"]]
    assert "leaderworkerset.x-k8s.io" not in groups


@pytest.mark.parametrize("wish", [{"gpus": -3}, {"count": 0}, {"count": 1.5}, {"rack": -1}])
def test_a_node_that_cannot_be_is_refused_with_a_sentence(cluster, wish):
    (name,) = wish
    before = cluster.nodes.names()
    with pytest.raises(ValueError, match=rf"^{name} must be a whole number from .*, not "):
        cluster.nodes.add(**wish)
    assert cluster.nodes.names() == before
