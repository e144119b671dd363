"""A workload too large for any cluster does not cost the operator its lease."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_controller_process import KOHORT, Controller

from kohort.apiserver.host.client import Client

pytestmark = [pytest.mark.slow]

SECONDS_MAX = 120
SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets"
PODS = "/api/v1/namespaces/default/pods?limit=1"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/lws-system/leases"
HUGE = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "x"},
    "spec": {
        "replicas": 1_000_000,
        "leaderWorkerTemplate": {
            "size": 1_000,
            "workerTemplate": {"spec": {"containers": [{"name": "a", "image": "a:1"}]}},
        },
    },
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """The folder of a cluster without an operator, in a process of its own."""
    environment = {**os.environ, "KOHORT_HOME": str(tmp_path)}
    words = ("up", "--no-operator", "--detach", "--port=0", "--name=huge")
    subprocess.run([*KOHORT, *words], env=environment, check=True, stdout=subprocess.DEVNULL)
    yield tmp_path / "huge"
    subprocess.run([*KOHORT, "down", "huge", "--kill"], env=environment, check=True)


def wait_until(claim: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS_MAX
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.2)


def count_pods(client: Client) -> int:
    listed = client.read(PODS)
    return len(listed["items"]) + (listed["metadata"].get("remainingItemCount") or 0)


def read_lease(client: Client) -> dict[str, Any]:
    (lease,) = client.read(LEASES)["items"]
    return dict(lease["spec"])


@pytest.mark.parametrize("carrier", ["statefulsets", "pods"])
def test_a_million_groups_of_a_thousand_leave_the_lease_where_it_is(home: Path, carrier, tmp_path):
    control = json.loads((home / "control.json").read_text())
    client = Client(control["url"], control["token"], control["ca"])
    words = ("--install", "--leader-elect", f"--carrier={carrier}")
    controller = Controller(home / "kubeconfig", tmp_path / "log", *words)
    try:
        controller.wait_for("webhooks lws-validating-webhook-configuration")
        client.create(SETS, HUGE)
        first = read_lease(client)
        # The leaders of the first window are there, and workers of theirs.
        wait_until(lambda: count_pods(client) > 1_100)
        for _ in range(2):
            before = read_lease(client)["renewTime"]
            wait_until(lambda before=before: read_lease(client)["renewTime"] != before)
        last = read_lease(client)
        assert last["holderIdentity"] == first["holderIdentity"] != ""
        assert last.get("leaseTransitions", 0) == 0
        assert controller.process.poll() is None
    finally:
        controller.process.kill()
        controller.process.wait()
        client.close()
