"""Real kubectl edits the set of leaders: the edit is named by its own manager, and put right."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from client_tools import Tool, make_tool

pytestmark = [pytest.mark.slow, pytest.mark.clients]
STRATEGY = "kohort.dev/rollout-strategy"
LOAD_FOR = "sim.kohort.dev/load-for"
RESTART = ("rollout", "restart", "sts/{}")
UIDS, IMAGES = "{.items[*].metadata.uid}", "{.items[*].spec.containers[0].image}"
SET_IMAGE = ("set", "image", "sts/{}", "engine=evil:1")


@pytest.fixture
def kubectl(cluster: Path, tools_home: Path) -> Tool:
    return make_tool("kubectl", cluster, tools_home)


def make_lws(name: str, strategy: str) -> str:
    container = {"name": "engine", "image": "engine:1"}
    # A restart that is over before the operator looks is no drift to tell of.
    pod = {"metadata": {"annotations": {LOAD_FOR: "60s"}}, "spec": {"containers": [container]}}
    template = {"size": 2, "workerTemplate": pod}
    return json.dumps(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "annotations": {STRATEGY: strategy}},
            "spec": {"replicas": 3, "leaderWorkerTemplate": template},
        }
    )


def wait_for(holds: Callable[[], bool], about: str) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, about


@pytest.mark.parametrize("strategy", ["budgeted", "compatible"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (RESTART, "kubectl-rollout asked for a restart"),
        (SET_IMAGE, "kubectl-set set spec.template.spec.containers[engine].image"),
    ],
    ids=["restart", "image"],
)
def test_an_edit_by_kubectl_is_named_and_put_right(kubectl, words, said: str, strategy: str):
    name = f"{words[1]}-{strategy}"
    kubectl("apply", "-f", "-", stdin=make_lws(name, strategy))
    kubectl("wait", "--for=condition=Available", f"lws/{name}", "--timeout=60s")
    before = read(kubectl, name, UIDS)
    kubectl(*(word.format(name) for word in words))
    wait_for(lambda: said in kubectl("describe", f"lws/{name}").stdout, said)
    kubectl("wait", "--for=condition=Drifted=false", f"lws/{name}", "--timeout=60s")
    kubectl("wait", "--for=condition=Available", f"lws/{name}", "--timeout=60s")
    events = kubectl("get", "events", "-o", "json").stdout
    told = [e for e in json.loads(events)["items"] if e["involvedObject"]["name"] == name]
    assert [e["type"] for e in told if said in e["message"]] == ["Warning"]
    assert read(kubectl, name, IMAGES) == {"engine:1"}
    if words is RESTART:
        assert not before & read(kubectl, name, UIDS)


def read(kubectl: Tool, name: str, path: str) -> set[str]:
    """The values that a field has in the pods of the workload."""
    selector = f"leaderworkerset.sigs.k8s.io/name={name}"
    told = kubectl("get", "pods", "-l", selector, "-o", f"jsonpath={path}").stdout
    return set(told.split())
