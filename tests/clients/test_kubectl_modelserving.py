"""Real kubectl with ModelServings: the example of the documentation, and the requirement's."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_tools import Tool
from kohort.testing import Cluster, start_cluster
from serving_examples import REQUIREMENT_001, find_missing_rows

pytestmark = pytest.mark.clients
EXAMPLE = Path(__file__).parents[2] / "examples" / "modelserving.yaml"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster(nodes=4, speed=20.0, operator=True) as found:
        yield found


@pytest.fixture
def k(kubectl: Tool, cluster: Cluster):
    def run(*words: str, **options: object):
        return kubectl(f"--kubeconfig={cluster.kubeconfig}", *words, **options)

    return run


def test_the_example_becomes_available_and_scales(k):
    k("apply", "-f", str(EXAMPLE))
    k("wait", "--for=condition=Available", "modelserving/llama", "--timeout=60s")
    k("scale", "modelserving/llama", "--replicas=3")
    k("wait", "--for=jsonpath={.status.availableReplicas}=3", "modelserving/llama", "--timeout=60s")
    row = k("get", "modelservings", "llama", "--no-headers").stdout.split()
    assert row[:4] == ["llama", "3", "3", "3"]


def test_the_example_of_the_requirement_works_with_kubectl_apply(k):
    answer = k("apply", "-f", "-", stdin=REQUIREMENT_001)
    assert "workload.serving.volcano.sh" in answer.stderr, "no warning names the current group"
    name = "modelserving.workload.volcano.sh/lws-compatible-serving"
    k("wait", "--for=condition=Available", name, "--timeout=60s")
    chosen = "leaderworkerset.sigs.k8s.io/name=lws-compatible-serving"
    pods = json.loads(k("get", "pods", "-l", chosen, "-o=json").stdout)["items"]
    assert len(pods) == 4
    for index, pod in enumerate(sorted(pods, key=lambda pod: pod["metadata"]["name"])):
        assert find_missing_rows(pod, index) == {}


def test_gangs_that_a_plain_cluster_does_not_make_are_a_warning_and_no_obstacle(k):
    asked = REQUIREMENT_001.replace("volcano.sh", "serving.volcano.sh", 1)
    asked = asked.replace("lws-compatible-serving", "together")
    gang = "  template:\n    gangPolicy: {minRoleReplicas: {worker: 1}}\n"
    answer = k("apply", "-f", "-", stdin=asked.replace("  template:\n", gang))
    assert "start with --gang volcano" in answer.stderr
    k("wait", "--for=condition=Available", "modelserving/together", "--timeout=60s")


def test_what_makes_no_sense_is_refused_in_upstreams_words(k):
    bad = REQUIREMENT_001.replace("name: lws\n", "name: nope\n").replace("-serving", "-bad")
    refused = k("apply", "-f", "-", stdin=bad, check=False)
    assert refused.returncode == 1
    assert "validation failed:" in refused.stderr
    assert "nope" in refused.stderr
