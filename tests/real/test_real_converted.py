"""
LeaderWorkerSets of upstream on a real control plane, as ModelServings.

Each sample goes through ``kohort convert --allow-lossy``, as a user does it. Two are tried, one
with TPUs and one with claims; ``make test-real ARGS=--all-samples`` tries all of them. A set
that asks for it is carried by a ModelServing, and says so in its own status.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from operator_processes import QUICK_LEASE, controllers, eventually, install
from serving_hands import Hand, bring_volumes, equip

from conftest import Site
from lws_samples import list_upstream

pytestmark = pytest.mark.real
WORDS = (*QUICK_LEASE, "--apis=lws,ms")
CHOSEN = ("leaderworkerset_tpu.yaml", "lws-volume-claim-templates.yaml")
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
SET = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "carried", "annotations": {"kohort.dev/carrier": "modelserving"}},
    "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}},
}
LWS = "leaderworkersets.leaderworkerset.x-k8s.io"
SERVINGS = "modelservings.workload.serving.volcano.sh"


@pytest.fixture(scope="module")
def kubeconfig(site: Site) -> Path:
    equip(site)
    return install(site.plane, site.service.url, "--apis", "lws,ms")


@pytest.fixture
def hand(site: Site, request: pytest.FixtureRequest) -> Iterator[Hand]:
    found = Hand(site, f"converted-{abs(hash(request.node.name)) % 10**8}")
    yield found
    found.close()


def convert(sample: dict[str, Any]) -> dict[str, Any]:
    """What the command makes of a set; one of them leaves its image to the reader."""
    feed = json.dumps(sample).replace('"<image>"', '"engine:1"')
    command = [sys.executable, "-m", "kohort", "convert", "--allow-lossy", "-"]
    done = subprocess.run(command, input=feed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = yaml.safe_load(done.stdout)
    return made


def bring_named(hand: Hand, serving: dict[str, Any]) -> None:
    """The service accounts that pods name, and volumes for their claims."""
    role = serving["spec"]["template"]["roles"][0]
    specs = [role[key]["spec"] for key in ("entryTemplate", "workerTemplate") if key in role]
    for name in {spec.get("serviceAccountName") for spec in specs} - {None}:
        hand("create", "serviceaccount", name)
    if any("ephemeral" in volume for spec in specs for volume in spec.get("volumes") or ()):
        bring_volumes(hand, serving["spec"]["replicas"] * (1 + role["workerReplicas"]))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("all_samples", default=False)
        found = [
            pytest.param(sample, id=name)
            for name, sample in list_upstream()
            if is_all or name.split(":")[0].endswith(CHOSEN)
        ]
        metafunc.parametrize("sample", found)


def test_a_converted_sample_becomes_ready(
    site: Site, kubeconfig: Path, hand: Hand, sample: dict[str, Any]
):
    serving = convert(sample)
    serving["metadata"].pop("namespace", None)
    name = serving["metadata"]["name"]
    bring_named(hand, serving)
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (one,):
        hand.apply(serving)
        eventually("it is ready", lambda: hand.is_done(name), lambda: describe(hand, one.log))


def describe(hand: Hand, log: Path) -> str:
    return hand("get", "pods") + hand("get", SERVINGS, "-o", "yaml") + log.read_text()


def test_a_set_is_carried_by_a_model_serving_and_tells_the_truth(
    site: Site, kubeconfig: Path, hand: Hand
):
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (one,):
        hand.apply(SET)
        eventually("it is ready", lambda: is_available(hand), lambda: describe(hand, one.log))
        owners = {pod["metadata"]["ownerReferences"][0]["kind"] for pod in hand.pods().values()}
        assert (owners, len(hand.pods())) == ({"ModelServing"}, 4)
        pods = hand.pods().values()
        leaders = {pod["spec"]["containers"][0]["env"][0]["value"] for pod in pods}
        assert leaders == {f"carried-{n}-default-0-0.{hand.namespace}" for n in (0, 1)}
        assert hand("get", "statefulsets", "-o", "name") == ""
        path = "/spec/leaderWorkerTemplate/workerTemplate/spec/containers/0/image"
        patch = [{"op": "replace", "path": path, "value": "engine:2"}]
        hand("patch", LWS, "carried", "--type=json", "-p", json.dumps(patch))
        eventually("it is rolled", lambda: hand.images() == {"engine:2"}, one.log.read_text)
        eventually("it is ready", lambda: is_available(hand), lambda: describe(hand, one.log))
        hand("delete", LWS, "carried", "--wait=false")
        kinds = f"{SERVINGS},pods,services"
        eventually("nothing is left", lambda: not hand("get", kinds, "-o", "name"))


def is_available(hand: Hand) -> bool:
    """Whether the set itself says that all its groups are ready and updated."""
    obj = hand.read(LWS, "carried")
    status = obj.get("status") or {}
    true = {c["type"] for c in status.get("conditions") or () if c["status"] == "True"}
    counts = [status.get(key) for key in ("replicas", "readyReplicas", "updatedReplicas")]
    is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
    return is_seen and counts == [2, 2, 2] and "Available" in true
