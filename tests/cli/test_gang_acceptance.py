"""Both examples of a network topology, as written, with real kubectl on a cluster with tiers."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import Cli

from client_tools import make_tool

pytestmark = [pytest.mark.slow, pytest.mark.clients]
EXAMPLES = Path(__file__).parents[2] / "examples"
HARD, SOFT = "lws-hard-topology", "lws-soft-topology"
SECONDS_MAX = 60
PINNED = '{"spec":{"nodeName":"%s"}}'


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Eight nodes in four racks under two spines; each node has a slot for one pod."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    flags = "--port 0 --speed 100 --gang volcano --racks 4 --spines 2"
    told = cli("up", "--detach", *flags.split())
    assert told.code == 0, told.err
    yield cli
    cli("down")


@pytest.fixture
def kube(cluster, tools_home):
    """kubectl on that cluster; all that a test makes goes with it."""
    run = make_tool("kubectl", cluster.home / "sim" / "kubeconfig", tools_home)
    yield run
    run("delete", "lws,pods", "--all", "--timeout=60s")
    wait_for(lambda: not run("get", "pods", "-o", "name").stdout, "no pod")


@pytest.fixture
def slots(kube):
    """Give each node so many slots for pods; afterwards they have as many as before."""

    def give(count: int) -> None:
        patch = json.dumps({"status": {"allocatable": {"pods": str(count)}}})
        for node in range(8):
            kube(
                "patch", "node", f"gpu-0{node}", "--subresource=status", "--type=merge", "-p", patch
            )

    yield give
    give(110)


def wait_for(is_true: Callable[[], object], what: str) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not is_true():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.1)


def block(kube, *nodes: str) -> None:
    """Pods that stand on these nodes."""
    for node in nodes:
        kube("run", f"block-{node}", "--image=x", "--overrides", PINNED % node)
        kube("wait", "--for=condition=Ready", f"pod/block-{node}", "--timeout=30s")


def spread(cluster: Cli, name: str) -> list[dict]:
    """The groups of a workload, each with its width."""
    path = cluster.home / "sim" / "kubeconfig"
    told = cluster("get", f"lws/{name}", "--topology", "-o", "json", "--kubeconfig", path)
    assert told.code == 0, told.err
    return json.loads(told.out)["groups"]


def why(cluster: Cli, name: str):
    return cluster("why", f"lws/{name}", "--kubeconfig", cluster.home / "sim" / "kubeconfig")


def become_ready(kube, name: str) -> None:
    kube("wait", "--for=condition=Available", f"lws/{name}", f"--timeout={SECONDS_MAX}s")


def test_hard_keeps_each_group_under_one_spine(cluster, kube, slots):
    """Tier 2 allows several racks of one spine: with one slot a node, four nodes are needed."""
    slots(1)
    kube("apply", "-f", EXAMPLES / f"{HARD}.yaml")
    become_ready(kube, HARD)
    groups = spread(cluster, HARD)
    assert [group["width"]["tier"] for group in groups] == [2, 2]
    assert {group["width"]["domain"] for group in groups} == {"spine-0", "spine-1"}


def test_hard_takes_the_nearest_domain_that_has_room(cluster, kube, slots):
    slots(4)
    kube("apply", "-f", EXAMPLES / f"{HARD}.yaml")
    become_ready(kube, HARD)
    assert [group["width"]["tier"] for group in spread(cluster, HARD)] == [0, 0]


def test_hard_stays_pending_with_a_reason_where_no_domain_fits(cluster, kube, slots):
    """Three slots are left under each spine: enough for a group of four, but not together."""
    slots(1)
    block(kube, "gpu-00", "gpu-04")
    kube("apply", "-f", EXAMPLES / f"{HARD}.yaml")
    member = f"pod/{HARD}-0"
    wait_for(lambda: kube("get", member, check=False).returncode == 0, member)
    kube("wait", "--for=condition=PodScheduled=False", member, "--timeout=30s")
    reason = "-o=jsonpath={.status.conditions[?(@.type=='PodScheduled')].reason}"
    assert kube("get", member, reason).stdout == "Unschedulable"
    wait_for(lambda: "There is room at" in why(cluster, HARD).out, "both gangs are tried")
    told = why(cluster, HARD).out
    assert "asked for: hard, tier 2" in told
    assert "tier 2 (spine): 3 of 4 fit into spine-" in told
    assert "lacks 1 places for pods" in told
    assert "mode soft would place it" in told
    assert [group["width"] for group in spread(cluster, HARD)] == [None, None]


def test_a_hard_group_is_placed_when_room_comes(cluster, kube, slots):
    slots(1)
    block(kube, "gpu-00", "gpu-04")
    kube("apply", "-f", EXAMPLES / f"{HARD}.yaml")
    wait_for(lambda: len(spread(cluster, HARD)) == 2, "both groups")
    kube("delete", "pod", "block-gpu-00", "block-gpu-04")
    become_ready(kube, HARD)
    assert {group["width"]["tier"] for group in spread(cluster, HARD)} == {2}


def test_soft_stays_in_one_domain_where_there_is_room(cluster, kube, slots):
    slots(4)
    kube("apply", "-f", EXAMPLES / f"{SOFT}.yaml")
    become_ready(kube, SOFT)
    (group,) = spread(cluster, SOFT)
    assert (group["width"]["tier"], group["width"]["tierName"]) == (1, "rack")


def test_soft_goes_wider_where_there_is_none(cluster, kube, slots):
    slots(1)
    kube("apply", "-f", EXAMPLES / f"{SOFT}.yaml")
    become_ready(kube, SOFT)
    (group,) = spread(cluster, SOFT)
    assert (group["width"]["domain"], group["width"]["tier"]) == ("cluster", 3)
    assert group["waiting"] == []


def test_warnings_of_admission_reach_kubectl(kube):
    told = kube("apply", "-f", EXAMPLES / f"{HARD}.yaml").stderr
    assert told.startswith("Warning: ")
    assert "request nothing" in told
    patch = '{"spec":{"networkTopology":{"highestTierAllowed":0}}}'
    told = kube("patch", "lws", HARD, "--type=merge", "-p", patch).stderr
    assert "0 means that all pods of a group must be on one node" in told


REFUSED = [
    ('{"mode":"medium"}', 'Unsupported value: "medium"'),
    ('{"highestTierAllowed":-1}', "should be greater than or equal to 0"),
]


@pytest.mark.parametrize(("topology", "sentence"), REFUSED)
def test_what_is_no_topology_is_refused(kube, topology, sentence):
    kube("apply", "-f", EXAMPLES / f"{SOFT}.yaml")
    patch = f'{{"spec":{{"networkTopology":{topology}}}}}'
    told = kube("patch", "lws", SOFT, "--type=merge", "-p", patch, check=False)
    assert told.returncode == 1
    assert sentence in told.stderr


def test_the_guide_comes_true(cluster, kube):
    """A rack is too small for the example: it waits, says why, and is placed when it gives in."""
    kube("apply", "-f", EXAMPLES / "lws-gang.yaml")
    wait_for(lambda: "There is room at" in why(cluster, "vllm").out, "the gang is tried")
    told = why(cluster, "vllm")
    assert "tier 1 (rack): 2 of 4 fit into rack-0" in told.out
    assert "There is room at tier 2 (spine), spine-0: mode soft would place it." in told.out
    assert kube("get", "pods", "-o=jsonpath={.items[*].spec.nodeName}").stdout == ""
    patch = '{"spec":{"networkTopology":{"mode":"soft"}}}'
    kube("patch", "lws", "vllm", "--type=merge", "-p", patch)
    become_ready(kube, "vllm")
    (group,) = spread(cluster, "vllm")
    assert (group["width"]["domain"], group["width"]["tier"]) == ("spine-0", 2)
    assert why(cluster, "vllm").code == 0
