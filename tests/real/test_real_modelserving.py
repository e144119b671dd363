"""
ModelServing on a real control plane: made, rolled, left by its operator, and taken over.

A few samples of upstream are tried, one for each feature; ``make test-real ARGS=--all-samples``
tries all of them.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from operator_processes import QUICK_LEASE, controllers, eventually, install
from serving_hands import Hand, equip

from conftest import Site
from kohort.apis.modelserving.api import MODEL_SERVING
from recorded_servings import Recorded, needs_recording, recordings
from serving_examples import REQUIREMENT_001, find_missing_rows

pytestmark = pytest.mark.real
WORDS = (*QUICK_LEASE, "--apis=lws,ms")
SHARED = os.environ.get("KOHORT_SHARED", "/nonexistent")
SAMPLES = Path(SHARED) / "data/kthena/examples/model-serving"
CHOSEN = ("sample", "gangPolicy", "role-rollingupdate")
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
ROLE = {"name": "decode", "replicas": 1, "workerReplicas": 1, "entryTemplate": TEMPLATE}
SERVING = {
    "apiVersion": "workload.serving.volcano.sh/v1alpha1",
    "kind": "ModelServing",
    "metadata": {"name": "life"},
    "spec": {
        "replicas": 2,
        "schedulerName": "default-scheduler",
        "template": {"roles": [{**ROLE, "workerTemplate": TEMPLATE}]},
    },
}


@pytest.fixture(scope="module")
def kubeconfig(site: Site) -> Path:
    equip(site)
    return install(site.plane, site.service.url, "--apis", "lws,ms")


@pytest.fixture
def hand(site: Site, request: pytest.FixtureRequest) -> Iterator[Hand]:
    found = Hand(site, f"serving-{abs(hash(request.node.name)) % 10**8}")
    yield found
    found.close()


def test_a_model_serving_is_rolled_on_by_the_next_operator(
    site: Site, kubeconfig: Path, hand: Hand
):
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (one,):
        hand.apply(SERVING)
        eventually("it is ready", lambda: hand.is_done("life"), one.log.read_text)
        assert len(hand.pods()) == 4
        patch = [
            {
                "op": "replace",
                "path": f"/spec/template/roles/0/{part}/spec/containers/0/image",
                "value": "engine:2",
            }
            for part in ("entryTemplate", "workerTemplate")
        ]
        hand("patch", "modelserving", "life", "--type=json", "-p", json.dumps(patch))
        eventually("the rollout begins", lambda: "engine:2" in hand.images(), one.log.read_text)
        one.kill()
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (two,):
        eventually("it is rolled", lambda: hand.images() == {"engine:2"}, two.log.read_text)
        eventually("it is ready", lambda: hand.is_done("life"), two.log.read_text)
        before = hand.uids()
        hand("delete", "pod", "life-0-decode-0-1", "--wait=false")
        eventually("it is mended", lambda: hand.is_done("life") and hand.uids() != before)


def test_the_example_of_the_requirement_becomes_ready(site: Site, kubeconfig: Path, hand: Hand):
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (one,):
        hand("apply", "-f", "-", feed=REQUIREMENT_001)
        name, group = "lws-compatible-serving", "workload.volcano.sh"
        eventually("it is ready", lambda: hand.is_done(name, group), one.log.read_text)
    found = sorted(hand.pods().items())
    assert [find_missing_rows(pod, index) for index, (_, pod) in enumerate(found)] == [{}] * 4


@needs_recording
def test_what_kthena_left_is_taken_over_without_a_restart(site: Site, kubeconfig: Path, hand: Hand):
    case = next(c for c in recordings() if c.when == "at_rest" and len(c.all("Pod")) <= 4)
    name = case.serving["metadata"]["name"]
    ignore_webhooks(site)
    leave(hand, case)
    eventually("pods serve", lambda: all(map(is_ready, hand.pods().values())))
    before, revision = hand.uids(), case.serving["status"]["updateRevision"]
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (one,):
        key = "modelserving.volcano.sh/group-index"

        def is_marked() -> bool:
            return all(key in pod["metadata"]["labels"] for pod in hand.pods().values())

        eventually("pods are adopted", is_marked, one.log.read_text)
        eventually("it is ready", lambda: hand.is_done(name), one.log.read_text)
    assert hand.uids() == before
    told = hand("get", "modelserving", name, "-o", "jsonpath={.status.updateRevision}")
    assert told == revision


def ignore_webhooks(site: Site) -> None:
    """Let objects pass while no operator answers; the next one sets its webhooks right."""
    operations = [
        {"op": "replace", "path": f"/webhooks/{index}/failurePolicy", "value": "Ignore"}
        for index in (0, 1)
    ]
    kind = "validatingwebhookconfiguration"
    name = MODEL_SERVING.home.validating_name
    site.plane.kubectl("patch", kind, name, "--type=json", "-p", json.dumps(operations))


def leave(hand: Hand, case: Recorded) -> None:
    """Put a recording into the namespace, as its controller would have left it."""
    serving = bare(case.serving)
    status = serving.pop("status")
    hand.apply(serving)
    made = json.loads(hand("get", "modelserving", serving["metadata"]["name"], "-o", "json"))
    status["observedGeneration"] = made["metadata"]["generation"]
    body = json.dumps({"status": status})
    own = serving["metadata"]["name"]
    hand("patch", "modelserving", own, "--subresource=status", "--type=merge", "-p", body)
    for kind in ("ControllerRevision", "Service", "Pod"):
        for obj in case.all(kind):
            child = bare(obj)
            child.pop("status", None)
            child["metadata"]["ownerReferences"][0]["uid"] = made["metadata"]["uid"]
            if kind == "Service":
                child["spec"] = {k: v for k, v in child["spec"].items() if k != "clusterIPs"}
            if kind == "Pod":
                child["spec"].pop("nodeName", None)
            hand("create", "-f", "-", feed=json.dumps(child))


def bare(obj: dict[str, Any]) -> dict[str, Any]:
    kept = ("name", "labels", "annotations", "ownerReferences")
    metadata = {key: obj["metadata"][key] for key in kept if key in obj["metadata"]}
    found: dict[str, Any] = json.loads(json.dumps(obj))
    return {**found, "metadata": json.loads(json.dumps(metadata))}


def is_ready(pod: dict[str, Any]) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("all_samples", default=False)
        found = [p for p in sorted(SAMPLES.glob("*.yaml")) if is_all or p.stem in CHOSEN]
        metafunc.parametrize("sample", found, ids=lambda path: path.stem)


def test_a_sample_of_upstream_becomes_ready(site: Site, kubeconfig: Path, hand: Hand, sample: Path):
    documents = [d for d in yaml.safe_load_all(sample.read_text()) if d]
    servings = [d for d in documents if d["kind"] == "ModelServing"]
    for serving in servings:
        serving["metadata"].pop("namespace", None)
    with controllers(site.plane, site.service, kubeconfig, words=WORDS) as (one,):
        hand.apply(*servings)
        for serving in servings:
            name = serving["metadata"]["name"]
            eventually("it is ready", lambda n=name: hand.is_done(n), one.log.read_text)
