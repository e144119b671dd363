"""Real kubectl with RoleBasedGroups: the example of the documentation, in both versions."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_tools import Tool
from kohort.testing import Cluster, start_cluster

pytestmark = pytest.mark.clients
ROLE = "rbg.workloads.x-k8s.io/role-name"
EXAMPLE = Path(__file__).parents[2] / "examples" / "rolebasedgroup.yaml"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster(nodes=4, speed=20.0, operator=True) as found:
        yield found


@pytest.fixture
def k(kubectl: Tool, cluster: Cluster):
    def run(*words: str, **options: object):
        return kubectl(f"--kubeconfig={cluster.kubeconfig}", *words, **options)

    return run


def pods_of(k, role: str) -> dict[str, dict]:
    items = json.loads(k("get", "pods", "-l", f"{ROLE}={role}", "-o=json").stdout)["items"]
    return {pod["metadata"]["name"]: pod for pod in items}


def test_the_example_becomes_ready_scales_and_changes_images_in_running_pods(k):
    k("apply", "-f", str(EXAMPLE))
    k("wait", "--for=condition=Ready", "rbg/llama", "--timeout=60s")
    assert len(pods_of(k, "prefill")) == 4
    k("scale", "rolebasedgroupscalingadapter/llama-decode", "--replicas=4")
    k("wait", "--for=jsonpath={.status.readyReplicas}=4", "rbgsa/llama-decode", "--timeout=60s")
    before = {name: pod["metadata"]["uid"] for name, pod in pods_of(k, "decode").items()}
    path = "/spec/roles/1/standalonePattern/template/spec/containers/0/image"
    patch = json.dumps([{"op": "replace", "path": path, "value": "example.com/engine:2"}])
    k("patch", "rbg/llama", "--type=json", f"-p={patch}")
    image = "--for=jsonpath={.spec.containers[0].image}=example.com/engine:2"
    k("wait", image, "pods", "-l", f"{ROLE}=decode", "--timeout=90s")
    k("wait", "--for=condition=Ready", "pods", "-l", f"{ROLE}=decode", "--timeout=90s")
    found = pods_of(k, "decode")
    assert {name: pod["metadata"]["uid"] for name, pod in found.items()} == before
    assert {p["spec"]["containers"][0]["image"] for p in found.values()} == {"example.com/engine:2"}


def test_a_group_is_read_in_the_former_version(k):
    k("apply", "-f", "-", stdin=EXAMPLE.read_text().replace("name: llama", "name: former"))
    answer = k("get", "rolebasedgroups.v1alpha1.workloads.x-k8s.io", "former", "-o=json")
    assert "is deprecated" in answer.stderr
    roles = json.loads(answer.stdout)["spec"]["roles"]
    assert [role["name"] for role in roles] == ["prefill", "decode", "router"]
    assert roles[0]["leaderWorkerSet"]["size"] == 2


def test_a_cycle_of_dependencies_is_refused(k):
    text = EXAMPLE.read_text().split("---")[0].replace("name: llama", "name: bad")
    text = text.replace(
        "    - name: prefill\n", "    - name: prefill\n      dependencies: [router]\n"
    )
    refused = k("apply", "-f", "-", stdin=text, check=False)
    assert refused.returncode == 1
    assert "cycle" in refused.stderr


def make_instances(name: str, **spec: object) -> str:
    pod = {"spec": {"containers": [{"name": "engine", "image": "example.com/engine:1"}]}}
    marks = {"labels": {"app": name}}
    component = {"name": "engine", "size": 1, "template": {**pod, "metadata": marks}}
    return json.dumps(
        {
            "apiVersion": "workloads.x-k8s.io/v1alpha2",
            "kind": "RoleInstanceSet",
            "metadata": {"name": name, **marks},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": name}},
                "roleInstanceTemplate": {"components": [component]},
                **spec,
            },
        }
    )


def list_uids(k, name: str) -> dict[str, str]:
    items = json.loads(k("get", "pods", "-l", f"app={name}", "-o=json").stdout)["items"]
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in items}


def test_a_role_instance_set_by_hand_is_scaled_changed_and_deleted(k):
    k("apply", "-f", "-", stdin=make_instances("alone"))
    k("wait", "--for=jsonpath={.status.readyReplicas}=2", "ris/alone", "--timeout=60s")
    k("scale", "ris/alone", "--replicas=3")
    k("wait", "--for=jsonpath={.status.readyReplicas}=3", "ris/alone", "--timeout=60s")
    assert k("get", "ris/alone", "--no-headers").stdout.split()[:6] == ["alone", *["3"] * 5]
    before = list_uids(k, "alone")
    assert sorted(before) == ["alone-0-engine-0", "alone-1-engine-0", "alone-2-engine-0"]
    path = "/spec/roleInstanceTemplate/components/0/template/spec/containers/0/image"
    patch = json.dumps([{"op": "replace", "path": path, "value": "example.com/engine:2"}])
    k("patch", "ris/alone", "--type=json", f"-p={patch}")
    image = "--for=jsonpath={.spec.containers[0].image}=example.com/engine:2"
    k("wait", image, "pods", "-l", "app=alone", "--timeout=90s")
    k("wait", "--for=jsonpath={.status.updatedReadyReplicas}=3", "ris/alone", "--timeout=90s")
    assert list_uids(k, "alone") == before
    k("delete", "ris/alone", "--wait")
    k("wait", "--for=delete", "pods", "-l", "app=alone", "--timeout=60s")


def test_a_role_instance_by_hand_becomes_ready(k):
    made = json.loads(make_instances("solo"))
    spec = made["spec"]["roleInstanceTemplate"]
    made |= {"kind": "RoleInstance", "metadata": {"name": "solo"}, "spec": spec}
    k("apply", "-f", "-", stdin=json.dumps(made))
    k("wait", "--for=condition=RoleInstanceReady", "rins/solo", "--timeout=60s")
    assert list(list_uids(k, "solo")) == ["solo-engine-0"]
    k("delete", "rins/solo", "--wait")
    k("wait", "--for=delete", "pods", "-l", "app=solo", "--timeout=60s")
