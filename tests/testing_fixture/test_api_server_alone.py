"""The API server without the simulator: what it serves, and what it does not do."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kohort.apiserver.host.client import Client, Refusal, Unreachable
from kohort.testing import ApiServerAddress, start_api_server

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GADGETS = "/apis/example.com/v1/namespaces/default/gadgets"
SIZE = {"type": "integer", "default": 3, "x-kubernetes-validations": [{"rule": "self < 10"}]}
GADGET = {
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"size": SIZE}}},
            }
        ],
    },
}
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        },
    },
}
PAGE = Path(__file__).parents[2] / "docs" / "api-server.md"
LOADED = """
import sys
from kohort.testing import start_api_server
with start_api_server() as server:
    print(server.kubeconfig.exists())
print([name for name in sys.modules if name.startswith(("kohort.simulator", "kohort.apis."))])
"""


@pytest.fixture(scope="module")
def server():
    with start_api_server() as address:
        yield address


@pytest.fixture
def client(server: ApiServerAddress):
    client = Client(server.url, server.token, server.ca)
    yield client
    client.close()


def test_a_definition_is_served_with_its_defaults_and_rules(client: Client):
    client.create(DEFINITIONS, GADGET)
    made = client.create(GADGETS, {"apiVersion": "example.com/v1", "kind": "Gadget"} | _named("a"))
    assert made["size"] == 3
    with pytest.raises(Refusal, match="self < 10"):
        client.create(GADGETS, {**made, "size": 10, **_named("b")})


def _named(name: str) -> dict[str, object]:
    return {"metadata": {"name": name}}


def test_a_deployment_is_stored_with_defaults_and_gets_no_pods(client: Client):
    made = client.create(DEPLOYMENTS, DEPLOYMENT)
    assert made["spec"]["strategy"]["type"] == "RollingUpdate"
    assert client.read(f"{DEPLOYMENTS}/web")["status"] == {}
    for kind in ("/apis/apps/v1/replicasets", "/api/v1/pods", "/api/v1/nodes", "/api/v1/events"):
        assert client.read(kind)["items"] == []


def test_namespaces_and_priority_classes_exist_from_the_start(client: Client):
    names = {item["metadata"]["name"] for item in client.read("/api/v1/namespaces")["items"]}
    assert {"default", "kube-system"} <= names
    classes = client.read("/apis/scheduling.k8s.io/v1/priorityclasses")["items"]
    assert len(classes) == 2


def test_a_client_without_the_token_is_refused(server: ApiServerAddress):
    stranger = Client(server.url, "guess", server.ca)
    with pytest.raises(Refusal) as caught:
        stranger.read("/api/v1/namespaces")
    stranger.close()
    assert caught.value.status == 401


def test_neither_simulator_nor_operator_is_imported():
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True", "[]"]


def test_it_ends_with_its_block():
    with start_api_server() as address:
        client = Client(address.url, address.token, address.ca)
        client.read("/version")
        client.close()
    assert not address.kubeconfig.exists()
    with pytest.raises(Unreachable, match="does not answer"):
        client.read("/version")


def test_the_first_example_of_the_page_prints_what_it_says():
    example = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
    command = [sys.executable, "-c", example]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "[]"]
