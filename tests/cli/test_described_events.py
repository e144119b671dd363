"""Real kubectl tells the events of a workload in the order in which they happened."""

import json
import re
import time
from pathlib import Path

import pytest

from client_tools import Tool, make_tool
from kohort.simulator.stages import PULL_ERROR

pytestmark = [pytest.mark.slow, pytest.mark.clients]
AVAILABLE = ("wait", "--for=condition=Available", "lws/{}", "--timeout=60s")
GROUPS = 5
READY = "All replicas are ready"


def make_lws(image: str, name: str = "x", **notes: str) -> str:
    spec = {"containers": [{"name": "engine", "image": image}]}
    worker = {"metadata": {"annotations": notes}, "spec": spec}
    template = {"size": 1, "workerTemplate": worker}
    return json.dumps(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": name},
            "spec": {"replicas": GROUPS, "leaderWorkerTemplate": template},
        }
    )


@pytest.fixture
def kubectl(cluster: Path, tools_home: Path) -> Tool:
    return make_tool("kubectl", cluster, tools_home)


def describe_events(kubectl: Tool) -> list[str]:
    """The messages in the table of events, in its order."""
    _, _, table = kubectl("describe", "lws/x").stdout.partition("Events:")
    lines = [line.strip() for line in table.splitlines()[3:]]
    return [line.partition("leaderworkerset")[2].strip() for line in lines]


def test_describe_tells_the_steps_of_a_rollout_in_their_order(kubectl: Tool):
    """Many steps fall into one second, by which kubectl sorts; then names decide."""
    kubectl("apply", "-f", "-", stdin=make_lws("engine:1"))
    kubectl(*(word.format("x") for word in AVAILABLE))
    kubectl("apply", "-f", "-", stdin=make_lws("engine:2"))
    told: list[str] = []
    end = time.monotonic() + 60
    while sum(READY in message for message in told) < 2:
        assert time.monotonic() < end, told
        told = describe_events(kubectl)
    steps = [message for message in told if message.startswith("Updating replica")]
    assert steps == [f"Updating replica {ordinal}" for ordinal in reversed(range(GROUPS))]
    assert told.index(steps[0]) > next(n for n, m in enumerate(told) if READY in m)
    assert told[0].startswith("Creating revision")
    assert READY in told[-1]


def test_describe_shows_what_blocks_a_rollout(kubectl: Tool):
    kubectl("apply", "-f", "-", stdin=make_lws("engine:1", "stuck"))
    kubectl(*(word.format("stuck") for word in AVAILABLE))
    bad = make_lws("engine:2", "stuck", **{PULL_ERROR: "manifest unknown"})
    kubectl("apply", "-f", "-", stdin=bad)
    told, end = "", time.monotonic() + 60
    while not re.search(r"Warning +ImagePullBackOff", told.partition("Events:")[2]):
        assert time.monotonic() < end, told
        told = kubectl("describe", "lws/stuck").stdout
    conditions, _, events = told.partition("Events:")
    blocker = r"stuck-4: .*manifest unknown"
    assert re.search(rf"Message: +{blocker}\n(.*\n)*? +Type: +Blocked\n", conditions), told
    assert len(re.findall(r"Warning +ImagePullBackOff .*stuck-4: ", events)) == 1
