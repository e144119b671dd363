"""The whole story of an InferenceService with real kubectl, on a cluster that plays everything."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from client_tools import Tool
from kohort.testing import Cluster, start_cluster

pytestmark = pytest.mark.clients
EXAMPLE = Path(__file__).parents[2] / "examples" / "inferenceservice.yaml"
MODE = "ome.io/deploymentMode"
NEW = "example.com/engine:2"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster(nodes=4, speed=20.0, operator=True) as found:
        yield found


@pytest.fixture
def k(kubectl: Tool, cluster: Cluster):
    def run(*words: str, **options: object):
        return kubectl(f"--kubeconfig={cluster.kubeconfig}", *words, **options)

    return run


def list_objects(k, *words: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(k("get", *words, "-o=json").stdout)["items"]
    return items


def uids(k, component: str) -> dict[str, str]:
    pods = list_objects(k, "pods", "-l", f"component={component}")
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in pods}


def wait_ready(k) -> None:
    k("wait", "--for=condition=Ready", "isvc/chat", "--timeout=90s")


def wait_engine_image(k, image: str) -> None:
    where = f"--for=jsonpath={{.spec.containers[0].image}}={image}"
    k("wait", where, "pods", "-l", "component=engine", "--timeout=90s")
    k("wait", "--for=condition=Ready", "pods", "-l", "component=engine", "--timeout=90s")


def list_all(k) -> set[str]:
    """The names of all objects in the namespace, but for what only tells of others."""
    words = k("api-resources", "--verbs=list", "--namespaced", "-o=name").stdout.split()
    kinds = [word for word in words if not word.startswith(("events", "leases"))]
    return set(k("get", ",".join(kinds), "-o=name").stdout.split())


def test_the_whole_story(k, kubectl: Tool, cluster: Cluster):
    before = list_all(k)
    k("apply", "-f", str(EXAMPLE))
    wait_ready(k)
    _change_the_image_in_running_pods(k)
    _let_the_autoscaler_raise_the_decoders(k)
    _lose_a_node(k, cluster)
    _roll_the_image_back(k)
    _switch_there_and_back(k, kubectl, cluster)
    k("delete", "isvc/chat", "--timeout=60s")
    k("wait", "--for=delete", "pods", "-l", "ome.io/inferenceservice=chat", "--timeout=60s")
    kinds = "rbg,deploy,hpa,pdb,cm,svc,coordinatedpolicies,rbgsa,roleinstancesets,roleinstances"
    k("wait", "--for=delete", kinds, "-l", "ome.io/inferenceservice=chat", "--timeout=60s")
    asked = (list_all(k) - before for _ in range(30))
    assert any(not left for left in asked)


def _change_the_image_in_running_pods(k) -> None:
    before = uids(k, "engine")
    patch = {"spec": {"engine": {"runner": {"name": "ome-container", "image": NEW}}}}
    k("patch", "isvc/chat", "--type=merge", f"-p={json.dumps(patch)}")
    wait_engine_image(k, NEW)
    assert uids(k, "engine") == before


def _roll_the_image_back(k) -> None:
    """Take the image of the service away: that of the runtime counts again."""
    before = uids(k, "engine")
    patch = {"spec": {"engine": {"runner": None}}}
    k("patch", "isvc/chat", "--type=merge", f"-p={json.dumps(patch)}")
    wait_engine_image(k, "example.com/engine:1")
    assert uids(k, "engine") == before


def _let_the_autoscaler_raise_the_decoders(k) -> None:
    k("annotate", "isvc/chat", "kohort.dev/coordination-ratio=engine=1,decoder=2")
    k("wait", "--for=create", "coordinatedpolicies/chat", "--timeout=60s")
    k("annotate", "hpa/chat-decoder", "sim.kohort.dev/metric-cpu=200%")
    k("wait", "--for=jsonpath={.status.readyReplicas}=4", "rbgsa/chat-decoder", "--timeout=90s")
    k("wait", "--for=jsonpath={.status.readyReplicas}=2", "rbgsa/chat-engine", "--timeout=90s")
    assert len(uids(k, "engine")) == 2


def _lose_a_node(k, cluster: Cluster) -> None:
    (pod,) = list_objects(k, "pods", "-l", "component=router")
    node, before = pod["spec"]["nodeName"], uids(k, "router")
    cluster.nodes.fail(node)
    k("delete", "node", node)
    asked = (uids(k, "router") for _ in range(1_000))
    assert next((found for found in asked if found and found != before), None)
    k("wait", "--for=condition=Ready", "pods", "-l", "component=router", "--timeout=90s")
    wait_ready(k)


def _switch_there_and_back(k, kubectl: Tool, cluster: Cluster) -> None:
    """The external Service has both its endpoints at every moment, as its slices tell it."""
    patch = json.dumps({"spec": {"router": {"minReplicas": 2, "maxReplicas": 2}}})
    k("patch", "isvc/chat", "--type=merge", f"-p={patch}")
    k("wait", "--for=jsonpath={.status.readyReplicas}=2", "rbgsa/chat-router", "--timeout=90s")
    external = ("endpointslices", "-l", "kubernetes.io/service-name=chat")
    where = "--for=jsonpath={.endpoints[1].conditions.ready}=true"
    k("wait", where, *external, "--timeout=60s")
    ready = '{.endpoints[*].conditions.ready}{"\\n"}'
    words = (f"--kubeconfig={cluster.kubeconfig}", "get", *external, "-w")
    with kubectl.start(*words, f"-o=jsonpath={ready}") as watching:
        assert watching.stdout is not None
        first = watching.stdout.readline()
        _switch(k, "RawDeployment", "deploy/chat-router", "rbg/chat")
        _switch(k, "RoleBasedGroup", "rbg/chat", "deploy/chat-router")
        watching.terminate()
        told = [first, *watching.stdout]
    assert len(told) > 2
    assert min(line.split().count("true") for line in told) >= 2, told


def _switch(k, mode: str, new: str, old: str) -> None:
    k("annotate", "--overwrite", "isvc/chat", f"{MODE}={mode}")
    k("wait", "--for=create", new, "--timeout=60s")
    k("wait", "--for=delete", old, "--timeout=90s")
    wait_ready(k)
