"""On a whole cluster: pods wait for what is missing, and never for what every namespace has."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kohort.apiserver.host.client import Client
from kohort.testing import Cluster

SECONDS_MAX = 30
# What a real cluster mounts into every pod.
ACCESS = {
    "name": "kube-api-access",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "c"}]}},
            {
                "downwardAPI": {
                    "items": [
                        {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
                    ]
                }
            },
        ]
    },
}


class Hand:
    """One namespace, as a user sees it."""

    def __init__(self, client: Client, namespace: str) -> None:
        self._client = client
        self._path = f"/api/v1/namespaces/{namespace}"

    def create(self, plural: str, name: str, **body: Any) -> None:
        self._client.create(f"{self._path}/{plural}", {"metadata": {"name": name}, **body})

    def run(self, name: str, image: str = "app:1", **spec: Any) -> None:
        container = {"name": "main", "image": image, **spec.pop("container", {})}
        self.create("pods", name, spec={"containers": [container], **spec})

    def waits_for(self, name: str) -> dict[str, Any]:
        pod = self._client.read(f"{self._path}/pods/{name}")
        (found,) = pod.get("status", {}).get("containerStatuses") or [{}]
        return dict(found.get("state", {}).get("waiting") or {})

    def is_ready(self, name: str) -> bool:
        pod = self._client.read(f"{self._path}/pods/{name}")
        conditions = pod.get("status", {}).get("conditions") or ()
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def warnings(self, name: str) -> list[str]:
        fields = f"involvedObject.name={name},type=Warning"
        found = self._client.read(f"{self._path}/events?fieldSelector={fields}")["items"]
        return [f"{event['reason']}: {event['message']}" for event in found]


@pytest.fixture
def hand(kohort_cluster: Cluster, kohort_namespace: str) -> Iterator[Hand]:
    client = Client(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
    yield Hand(client, kohort_namespace)
    client.close()


def wait_until(claim: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_tokens_and_the_root_certificate_keep_no_pod_waiting(hand: Hand):
    hand.run("one", volumes=[ACCESS])
    wait_until(lambda: hand.is_ready("one"))


def test_a_pod_starts_when_its_secret_comes(hand: Hand):
    hand.run("one", volumes=[{"name": "files", "secret": {"secretName": "token"}}])
    why = 'FailedMount: MountVolume.SetUp failed for volume "files" : secret "token" not found'
    wait_until(lambda: hand.warnings("one") == [why])
    assert hand.waits_for("one") == {"reason": "ContainerCreating"}
    hand.create("secrets", "token")
    wait_until(lambda: hand.is_ready("one"))


def test_a_container_starts_when_its_config_map_comes(hand: Hand):
    hand.run("one", container={"envFrom": [{"configMapRef": {"name": "settings"}}]})
    reason = "CreateContainerConfigError"
    wait_until(lambda: hand.waits_for("one").get("reason") == reason)
    assert hand.warnings("one") == ['Failed: Error: configmap "settings" not found']
    hand.create("configmaps", "settings")
    wait_until(lambda: hand.is_ready("one"))


def test_an_image_that_has_no_name_is_refused(hand: Hand):
    hand.run("one", "Not An Image")
    wait_until(lambda: hand.waits_for("one").get("reason") == "InvalidImageName")
    told = hand.warnings("one")
    assert told[0].startswith('InspectFailed: Failed to apply default image tag "Not An Image": ')
    assert told[1] == "Failed: Error: InvalidImageName"
