"""Commands that change a running simulation."""

import json

import pytest
from command_lines import Cli

BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: all}
spec: {minAvailable: 100%, selector: {matchLabels: {app: web}}}
"""
NODE = ("-o=jsonpath={.items[*].spec.nodeName}", "-l", "app=web")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster of its own, whose clock these tests may stop."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    told = cli("up", "--detach", "--port", "0", "--nodes", "4", "--speed", "50")
    assert told.code == 0, told.err
    yield cli
    cli("down")


@pytest.fixture
def kube(cluster, kubectl):
    """kubectl on that cluster."""
    config = {"KUBECONFIG": str(cluster.home / "sim" / "kubeconfig")}
    return lambda *words, **more: kubectl(*words, env=config, **more).stdout


def test_the_clock_is_shown_paused_stepped_and_resumed(cluster):
    assert json.loads(cluster("sim", "clock", "-o", "json").out)["speed"] == 50
    paused = json.loads(cluster("sim", "clock", "pause", "-o", "json").out)
    assert paused["isPaused"]
    stepped = json.loads(cluster("sim", "clock", "step", "300", "-o", "json").out)
    assert stepped["elapsedSeconds"] == pytest.approx(paused["elapsedSeconds"] + 300)
    assert cluster("sim", "clock").out.startswith("paused at speed 50   ")
    assert cluster("sim", "clock", "resume").out.startswith("running at speed 50   ")


def test_the_pace_of_a_running_cluster_is_changed(cluster):
    faster = json.loads(cluster("sim", "clock", "speed", "200", "-o", "json").out)
    assert (faster["speed"], faster["isPaused"]) == (200, False)
    cluster("sim", "clock", "pause")
    assert cluster("sim", "clock", "speed", "50").out.startswith("paused at speed 50   ")
    before = json.loads(cluster("sim", "clock", "-o", "json").out)["elapsedSeconds"]
    stepped = json.loads(cluster("sim", "clock", "step", "1m30s", "-o", "json").out)
    assert stepped["elapsedSeconds"] == pytest.approx(before + 90)
    cluster("sim", "clock", "resume")


def test_nodes_are_added_in_the_emptiest_rack_or_where_they_are_wanted(cluster, kube):
    assert cluster("sim", "node", "add").out == "gpu-04 added to rack-0 with 8 GPUs\n"
    assert cluster("sim", "node", "add").out == "gpu-05 added to rack-1 with 8 GPUs\n"
    told = cluster("sim", "node", "add", "special", "--rack", "7", "--gpus", "2")
    assert told.out == "special added to rack-7 with 2 GPUs\n"
    room = kube("get", "node", "special", r"-o=jsonpath={.status.allocatable.nvidia\.com/gpu}")
    assert room == "2"
    told = cluster("sim", "node", "add", "special")
    assert (told.code, told.err) == (1, 'error: nodes "special" already exists\n')


def test_a_node_fails_and_recovers(cluster, kube):
    assert cluster("sim", "node", "fail", "gpu-03").out == "gpu-03 has failed\n"
    cluster("sim", "clock", "step", "41")
    kube("wait", "--for=condition=Ready=Unknown", "node/gpu-03", "--timeout=20s")
    assert cluster("sim", "node", "recover", "gpu-03").out == "gpu-03 has recovered\n"
    kube("wait", "--for=condition=Ready", "node/gpu-03", "--timeout=20s")


def test_a_node_that_is_as_it_should_be_is_said_to_be_so(cluster):
    told = cluster("sim", "node", "recover", "gpu-02")
    assert (told.code, told.out) == (0, "gpu-02 was healthy; nothing was changed\n")
    cluster("sim", "node", "fail", "gpu-02")
    assert cluster("sim", "node", "fail", "gpu-02").out == "gpu-02 had failed already\n"
    assert cluster("sim", "node", "recover", "gpu-02").out == "gpu-02 has recovered\n"


def test_a_wrong_name_among_nodes_changes_none_of_them(cluster, kube):
    told = cluster("sim", "node", "fail", "gpu-01", "nope", "gpu-02")
    assert (told.code, told.out) == (1, "")
    assert told.err == "error: there is no node 'nope'; nothing was changed\n"
    found = kube("get", "nodes", r"-o=jsonpath={.items[*].metadata.annotations}")
    assert "failed" not in found


def test_a_step_lets_delays_end_in_their_order(cluster, kube):
    """A node is noticed after 40 seconds, and 300 seconds after that its pods must go."""
    kube("run", "lone", "--image=app")
    kube("wait", "--for=condition=Ready", "pod/lone", "--timeout=20s")
    node = kube("get", "pod", "lone", "-o=jsonpath={.spec.nodeName}")
    cluster("sim", "clock", "pause")
    cluster("sim", "node", "fail", node)
    leaves = ("get", "pod", "lone", "-o=jsonpath={.metadata.deletionTimestamp}")
    cluster("sim", "clock", "step", "330")
    assert kube(*leaves) == ""
    cluster("sim", "clock", "step", "20")
    assert kube(*leaves) != ""
    cluster("sim", "clock", "resume")
    cluster("sim", "node", "recover", node)
    kube("wait", "--for=delete", "pod/lone", "--timeout=20s")


def test_a_drain_moves_pods_and_waits_for_budgets(cluster, kube):
    kube("create", "deployment", "web", "--image=web")
    kube("rollout", "status", "deployment/web", "--timeout=20s")
    node = kube("get", "pods", *NODE)
    kube("apply", "-f", "-", stdin=BUDGET)
    kube("wait", "--for=jsonpath={.status.expectedPods}=1", "pdb/all", "--timeout=20s")
    told = cluster("sim", "node", "drain", node, "--timeout", "0.5")
    assert told.code == 3
    assert "violate the pod's disruption budget" in told.err
    kube("delete", "pdb", "all")
    told = cluster("sim", "node", "drain", node)
    assert told.code == 0
    assert told.out.endswith(f"{node} is empty\n")
    kube("rollout", "status", "deployment/web", "--timeout=20s")
    assert kube("get", "pods", *NODE) != node
