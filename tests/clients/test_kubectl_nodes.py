"""kubectl looks after nodes: cordon, drain, taint."""

import json

import pytest
from client_manifests import budget, deployment, eventually, pod

pytestmark = pytest.mark.clients

NODE = "gpu-07"
DRAIN = ("drain", NODE, "--ignore-daemonsets", "--delete-emptydir-data")


@pytest.fixture
def node(kubectl):
    """A node that is as it was when the test has ended."""
    yield NODE
    kubectl("uncordon", NODE)
    kubectl("taint", "nodes", NODE, "test-", check=False)


@pytest.fixture
def at_node(apply, k, node):
    """A Deployment with two pods on the node, which could be elsewhere."""
    wanted = deployment(replicas=2)
    prefer = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    wanted["spec"]["template"]["spec"]["affinity"] = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "preference": {"matchExpressions": [prefer]}}
            ]
        }
    }
    apply(wanted)
    k("rollout", "status", "deploy/web", "--timeout=60s")
    assert nodes_of(k) == {node}


def nodes_of(k) -> set[str]:
    path = "{.items[?(@.status.phase=='Running')].spec.nodeName}"
    return set(k("get", "pods", "-l=app=web", f"-o=jsonpath={path}").stdout.split())


def test_a_cordoned_node_takes_no_more_pods(kubectl, apply, k, node):
    assert kubectl("cordon", node).stdout == f"node/{node} cordoned\n"
    row = kubectl("get", "node", node, "--no-headers").stdout.split()
    assert row[1] == "Ready,SchedulingDisabled"
    apply(pod(nodeSelector={"kubernetes.io/hostname": node}))
    condition = "--for=jsonpath={.status.conditions[0].reason}=Unschedulable"
    k("wait", condition, "pod/one", "--timeout=60s")
    assert kubectl("uncordon", node).stdout == f"node/{node} uncordoned\n"
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")


def test_drain_moves_pods_elsewhere(kubectl, k, at_node):
    done = kubectl(*DRAIN, "--timeout=60s")
    assert f"node/{NODE} drained" in done.stdout
    assert done.stdout.count("evicted") == 2
    k("rollout", "status", "deploy/web", "--timeout=60s")
    assert NODE not in nodes_of(k)


def test_drain_waits_for_a_budget_and_goes_on_when_it_allows(kubectl, apply, k, at_node):
    apply(budget("b", "web", minAvailable=2))
    k("wait", "--for=jsonpath={.status.currentHealthy}=2", "pdb/b", "--timeout=60s")
    reason = "Cannot evict pod as it would violate the pod's disruption budget"
    with kubectl.start(*DRAIN, "--timeout=60s") as draining:
        assert next(line for line in draining.stdout if reason in line)
        assert nodes_of(k) == {NODE}
        k("patch", "pdb/b", "--type=merge", "-p", '{"spec":{"minAvailable":0}}')
        assert f"node/{NODE} drained" in draining.communicate(timeout=60)[0]
    assert draining.returncode == 0


def test_drain_refuses_pods_that_no_controller_would_make_again(kubectl, apply, k, node):
    apply(pod(nodeName=node))
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    done = kubectl(*DRAIN, check=False)
    assert done.returncode == 1
    assert "cannot delete Pods that declare no controller" in done.stderr
    assert "drained" in kubectl(*DRAIN, "--force").stdout


def test_a_taint_keeps_pods_away_until_it_is_taken_off(kubectl, apply, k, node):
    assert kubectl("taint", "nodes", node, "test=yes:NoSchedule").stdout == f"node/{node} tainted\n"
    there = {"kubernetes.io/hostname": node}
    tolerations = [{"key": "test", "operator": "Exists"}]
    apply(pod(nodeSelector=there), pod("two", nodeSelector=there, tolerations=tolerations))
    k("wait", "--for=condition=Ready", "pod/two", "--timeout=60s")
    assert k("get", "pod/one", "-o=jsonpath={.status.phase}").stdout == "Pending"
    assert kubectl("taint", "nodes", node, "test-").stdout == f"node/{node} untainted\n"
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")


def test_a_taint_that_does_not_execute_spares_running_pods_and_one_that_does_evicts(
    kubectl, apply, k, node
):
    apply(pod(nodeName=node))
    k("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
    kubectl("taint", "nodes", node, "test=yes:NoExecute")
    eventually(lambda: k("get", "pod/one", "--ignore-not-found").stdout == "")


def test_nodes_show_their_capacity_and_racks(kubectl):
    told = json.loads(kubectl("get", "nodes", "-o=json").stdout)["items"]
    assert {node["status"]["capacity"]["nvidia.com/gpu"] for node in told} == {"8"}
    label = "topology.kohort.dev/rack"
    assert {node["metadata"]["labels"][label] for node in told} == {"rack-0", "rack-1"}
