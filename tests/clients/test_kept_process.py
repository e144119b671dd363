"""A cluster that keeps its objects is killed at the worst moment and started again."""

import json
from threading import Thread

import pytest
from client_manifests import config_map, deployment, eventually, write_yaml
from kept_cluster import KeptCluster

from client_tools import make_tool
from kohort.apiserver.host.client import Unreachable

pytestmark = pytest.mark.clients

MAPS = "/api/v1/namespaces/default/configmaps"
WRITERS = 4
WRITES_BEFORE_KILL = 200


@pytest.fixture
def kept(tmp_path):
    """A cluster that runs."""
    cluster = KeptCluster(tmp_path)
    cluster.up()
    yield cluster
    cluster.down()


@pytest.fixture
def kube(kept, tools_home):
    """kubectl against it, which goes on after a restart because nothing it knows has changed."""
    return make_tool("kubectl", kept.kubeconfig, tools_home)


class Writer(Thread):
    """Creates objects as fast as it can until the server is gone; remembers what was answered."""

    def __init__(self, cluster: KeptCluster, label: str) -> None:
        super().__init__(daemon=True)
        self._client = cluster.connect()
        self._label = label
        self.answered: dict[str, int] = {}

    def run(self) -> None:
        number = 0
        while True:
            name = f"{self._label}-{number}"
            try:
                made = self._client.create(MAPS, config_map(name, n=str(number)))
            except Unreachable:
                return
            self.answered[name] = int(made["metadata"]["resourceVersion"])
            number += 1


def write_until_killed(cluster: KeptCluster, label: str) -> dict[str, int]:
    """The versions of all objects whose creation was answered before the kill."""
    writers = [Writer(cluster, f"{label}-{n}") for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    eventually(lambda: sum(len(w.answered) for w in writers) >= WRITES_BEFORE_KILL)
    cluster.kill()
    for writer in writers:
        writer.join()
    return {name: version for w in writers for name, version in w.answered.items()}


def versions_in(cluster: KeptCluster) -> dict[str, int]:
    items = cluster.connect().read(MAPS)["items"]
    return {i["metadata"]["name"]: int(i["metadata"]["resourceVersion"]) for i in items}


def test_everything_that_was_answered_is_there_after_kills_in_the_middle_of_writes(kept):
    answered: dict[str, int] = {}
    for label in ("first", "second"):
        answered |= write_until_killed(kept, label)
        kept.up()
        found = versions_in(kept)
        assert answered.items() <= found.items()
        made = kept.connect().create(MAPS, config_map(f"{label}-last"))
        assert int(made["metadata"]["resourceVersion"]) > max(found.values())


def watch(kube, version: str) -> list[tuple[str, str]]:
    """The changes of the namespace's ConfigMaps after a version, up to now."""
    query = f"?watch=true&resourceVersion={version}&timeoutSeconds=1"
    told = kube("get", "--raw", MAPS + query).stdout.splitlines()
    events = [json.loads(line) for line in told]
    return [(event["type"], event["object"]["metadata"]["name"]) for event in events]


def test_a_watch_from_before_the_kill_tells_what_it_has_missed(kept, kube):
    kube("create", "configmap", "old")
    version = kube("get", "--raw", MAPS).stdout
    version = json.loads(version)["metadata"]["resourceVersion"]
    kube("create", "configmap", "before")
    kube("delete", "configmap", "old")
    kept.kill()
    kept.up()
    kube("create", "configmap", "after")
    told = [("ADDED", "before"), ("DELETED", "old"), ("ADDED", "after")]
    assert watch(kube, version) == told


def test_workloads_go_on_where_they_were(kept, kube):
    kube("apply", "-f", "-", stdin=write_yaml(deployment(replicas=2)))
    kube("rollout", "status", "deploy/web", "--timeout=60s")
    uids = (
        "-o=jsonpath={.items[*].metadata.uid} {.items[*].status.containerStatuses[0].restartCount}"
    )
    before = kube("get", "pods", uids).stdout
    kube("scale", "deploy/web", "--replicas=4")
    kept.kill()
    kept.up()
    assert (
        "successfully rolled out" in kube("rollout", "status", "deploy/web", "--timeout=60s").stdout
    )
    after = kube("get", "pods", uids).stdout.split()
    assert len(after) == 8
    assert set(before.split()) <= set(after)
