"""A small workload becomes ready under each scheduler, and the gang waits where it must."""

import json

import pytest
from command_lines import Cli

pytestmark = [pytest.mark.slow, pytest.mark.clients]
FLAGS = {"kueue": ("--carrier", "pods")}
QUEUES = {"kai": "kai.scheduler/queue", "kueue": "kueue.x-k8s.io/queue-name"}


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
            "metadata": {"name": "small", "labels": {queue: "default"} if queue else {}},
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
def test_a_small_workload_becomes_ready(dialect, tmp_path, kubectl):
    cli = Cli(tmp_path / "home")
    more = FLAGS.get(dialect, ())
    told = cli("up", "--detach", "--port", "0", "--speed", "100", "--gang", dialect, *more)
    assert told.code == 0, told.err
    config = {"KUBECONFIG": str(cli.home / "sim" / "kubeconfig")}
    try:
        kubectl("apply", "-f", "-", stdin=make_lws(dialect), env=config)
        wait = ("wait", "--for=condition=Available", "lws/small", "--timeout=60s")
        done = kubectl(*wait, env=config, check=False)
        flags = ("--kubeconfig", config["KUBECONFIG"])
        assert done.returncode == 0, cli("why", "lws/small", *flags).out
    finally:
        cli("down")
