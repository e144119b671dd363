"""A drain evicts the pods that it saw, never others that took their names."""

from typing import Any

from kohort.apiserver.host.client import Client
from kohort.cli.commands.simulation.nodes import Drain
from kohort.testing import Cluster

POD = {
    "metadata": {"name": "one"},
    "spec": {"nodeName": "gpu-00", "containers": [{"name": "main", "image": "i"}]},
}


class Overtaken(Client):
    """A connection on which another client replaces the pod just before it is evicted."""

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("/eviction"):
            pods, name = path.removesuffix("/one/eviction"), "one"
            self.delete(f"{pods}/{name}?gracePeriodSeconds=0")
            super().create(pods, POD)
        return super().create(path, body)


def test_a_pod_that_took_the_name_of_another_is_not_evicted(
    kohort_cluster: Cluster, kohort_namespace: str, capsys
):
    client = Overtaken(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
    pods = f"/api/v1/namespaces/{kohort_namespace}/pods"
    first = client.create(pods, POD)["metadata"]["uid"]
    assert Drain(client, "gpu-00").go_on()
    second = client.read(f"{pods}/one")["metadata"]
    assert second["uid"] != first
    assert "deletionTimestamp" not in second
    assert "evicted" not in capsys.readouterr().out
