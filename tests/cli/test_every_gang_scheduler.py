"""A small workload becomes ready under each scheduler, in its rack if it can be told of one."""

import json
import time

import pytest
from command_lines import Cli

from client_tools import make_tool

pytestmark = [pytest.mark.slow, pytest.mark.clients]
FLAGS = {"kueue": ("--carrier", "pods")}
QUEUES = {"kai": "kai.scheduler/queue", "kueue": "kueue.x-k8s.io/queue-name"}

DEAF = {"coscheduling": "hard topology up to tier 1 cannot be given to coscheduling"}


def make_lws(dialect: str) -> str:
    requests = {"nvidia.com/gpu": "8"}
    container = {"name": "c", "image": "c:1"}
    container["resources"] = {"requests": requests, "limits": requests}
    queue = QUEUES.get(dialect)
    topology = {"mode": "hard", "highestTierAllowed": 1}
    return json.dumps(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "small", "annotations": {queue: "default"} if queue else {}},
            "spec": {
                "replicas": 2,
                "leaderWorkerTemplate": {
                    "size": 2,
                    "workerTemplate": {"spec": {"containers": [container]}},
                },
                "networkTopology": topology,
            },
        }
    )


@pytest.mark.parametrize(
    "dialect", ["volcano", "kai", "koordinator", "coscheduling", "kubernetes", "kueue"]
)
def test_a_small_workload_becomes_ready(dialect, tmp_path, tools_home):
    cli = Cli(tmp_path / "home")
    more = FLAGS.get(dialect, ())
    told = cli("up", "--detach", "--port", "0", "--speed", "100", "--gang", dialect, *more)
    assert told.code == 0, told.err
    config = cli.home / "sim" / "kubeconfig"
    kubectl = make_tool("kubectl", config, tools_home)
    try:
        kubectl("apply", "-f", "-", stdin=make_lws(dialect))
        wait = ("wait", "--for=condition=Available", "lws/small", "--timeout=60s")
        done = kubectl(*wait, check=False)
        flags = ("--kubeconfig", config)
        why = cli("why", "lws/small", *flags).out
        assert done.returncode == 0, why
        shown = json.loads(cli("get", "lws/small", "--topology", "-o", "json", *flags).out)
    finally:
        cli("down")
    if dialect in DEAF:
        assert f"TopologyDegraded: {DEAF[dialect]}" in why
    else:
        assert "TopologyDegraded" not in why
        assert [group["width"]["tier"] for group in shown["groups"]] == [1, 1]


def test_a_gang_is_explained_in_the_version_that_is_served(tmp_path, tools_home):
    """Kubernetes' own groups have two versions, of which the older one stands in here."""
    cli = Cli(tmp_path / "home")
    flags = "--detach --port 0 --speed 100 --gang kubernetes --nodes 1"
    assert cli("up", *flags.split()).code == 0
    config = cli.home / "sim" / "kubeconfig"
    kubectl = make_tool("kubectl", config, tools_home)
    try:
        kubectl("apply", "-f", "-", stdin=make_lws("kubernetes"))
        told, end = "", time.monotonic() + 60
        while "Nowhere is there room" not in told:
            assert time.monotonic() < end, told
            told = cli("why", "lws/small", "--kubeconfig", config).out
    finally:
        cli("down")
    assert "group 0: PodGroup small-0-" in told
    assert "1 of 2 fit into spine-0/rack-0" in told
