"""
InferenceService on a real control plane: its life in both strategies, and the switch between them.

The plane has no model agent: nodes are marked by hand, and models bring their facts. Three samples
of upstream are tried; ``make test-real ARGS=--all-samples`` tries a dozen.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from audit_log import AuditLog
from operator_processes import QUICK_LEASE, Service, controllers, eventually, install

from conftest import Site
from control_plane import real_plane
from kohort.apis.inferenceservice.names import model_ready_label
from ome_samples import MODE, Sample, find_runtime, list_samples, stand_in

pytestmark = pytest.mark.real
APIS = "lws,rbg,isvc"
RBG = "RoleBasedGroup"
KIND = "inferenceservices.ome.io"
MACHINE = "node.kubernetes.io/instance-type=BM.GPU.H100.8"
OWNED = (
    *("deployments", "leaderworkersets", "rolebasedgroups", "pods", "services", "configmaps"),
    *("horizontalpodautoscalers", "poddisruptionbudgets", "roles", "rolebindings"),
)
CHOSEN = ("Qwen/qwen3-0-6b", "BAAI/bge-m3", "deepseek-ai/deepseek-v3-pd")
MORE = (
    "LGAI-EXAONE/exaone-3-5-7-8b-instruct",
    "Qwen/Qwen-Image",
    "Qwen/qwen3-30b-a3b",
    "meta/llama-4-maverick-17b-128e-instruct-fp8",
    "meta/llama3-1-8b-instruct",
    "microsoft/phi-2",
    "moonshotai/kimi-k2-pd",
    "openai/gpt-oss-20b",
    "xai-org/grok-2",
)
FORMAT = {
    "modelFormat": {"name": "safetensors", "version": "1.0.0"},
    "modelFramework": {"name": "transformers", "version": "4.43.0"},
    "modelArchitecture": "LlamaForCausalLM",
}
RUNNER = {"name": "ome-container", "image": "engine:1", "ports": [{"containerPort": 8080}]}
MODEL = {
    "apiVersion": "ome.io/v1beta1",
    "kind": "ClusterBaseModel",
    "metadata": {"name": "life"},
    "spec": {
        **FORMAT,
        "modelParameterSize": "8B",
        "storage": {"storageUri": "hf://meta/llama", "path": "/mnt/models/life"},
    },
}
RUNTIME = {
    "apiVersion": "ome.io/v1beta1",
    "kind": "ClusterServingRuntime",
    "metadata": {"name": "life"},
    "spec": {
        "supportedModelFormats": [{**FORMAT, "autoSelect": True, "priority": 1}],
        "engineConfig": {"runner": RUNNER},
        "routerConfig": {"runner": {**RUNNER, "name": "router", "image": "router:1"}},
    },
}
SERVICE = {
    "apiVersion": "ome.io/v1beta1",
    "kind": "InferenceService",
    "metadata": {"name": "chat"},
    "spec": {
        "model": {"name": "life"},
        "runtime": {"name": "life"},
        "engine": {"minReplicas": 2, "maxReplicas": 2},
        "router": {"minReplicas": 1, "maxReplicas": 1},
    },
}
FOREIGN = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "chat-engine"},
    "spec": {
        "selector": {"matchLabels": {"app": "other"}},
        "template": {
            "metadata": {"labels": {"app": "other"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
    },
}


class Hand:
    """A user with kubectl, in a namespace that goes with the test."""

    def __init__(self, site: Site, namespace: str) -> None:
        self._kubectl = site.plane.kubectl
        self.namespace = namespace
        self._kubectl("create", "namespace", namespace)
        eventually("its account is there", self._has_account)
        self._before = self.list_names()

    def _has_account(self) -> bool:
        found = self("get", "configmap,serviceaccount", "-o", "name")
        return "configmap/" in found and "serviceaccount/" in found

    def __call__(self, *words: str, feed: str = "") -> str:
        return str(self._kubectl("-n", self.namespace, *words, feed=feed))

    def apply(self, *objects: dict[str, Any]) -> None:
        self("apply", "--server-side", "-f", "-", feed=yaml.safe_dump_all(objects))

    def bring(self, model: dict[str, Any], runtime: dict[str, Any]) -> None:
        """A model that every node has, and a runtime for it."""
        self.apply(model, runtime)
        label = f"{model_ready_label(model['metadata']['name'])}=Ready"
        self("label", "nodes", "--all", "--overwrite", label, MACHINE)

    def list_names(self) -> set[str]:
        return set(self("get", ",".join(OWNED), "-o", "name").split())

    def list_left(self) -> set[str]:
        return self.list_names() - self._before

    def read(self, kind: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("get", kind, name, "-o", "json"))
        return found

    def read_condition(self, service: str, name: str) -> dict[str, Any]:
        held = (self.read(KIND, service).get("status") or {}).get("conditions") or ()
        return next((each for each in held if each["type"] == name), {})

    def is_ready(self, name: str) -> bool:
        obj = self.read(KIND, name)
        is_seen = (obj.get("status") or {}).get("observedGeneration") == obj["metadata"][
            "generation"
        ]
        return is_seen and self.read_condition(name, "Ready").get("status") == "True"

    def delete(self, name: str) -> None:
        self("delete", KIND, name, "--wait=false")
        eventually("nothing is left", lambda: not self.list_left(), lambda: str(self.list_left()))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A plane of its own, with enough nodes for the widest sample, and one operator."""
    folder = tmp_path_factory.mktemp("isvc") / "plane"
    words = ("--nodes", "18", "--ready-ms", "500", "--gone-ms", "200")
    with real_plane(folder, *words) as plane:
        service = Service()
        kubeconfig = install(plane, service.url, "--apis", APIS)
        said = (*QUICK_LEASE, f"--apis={APIS}")
        with controllers(plane, service, kubeconfig, words=said):
            yield Site(plane, service, kubeconfig, AuditLog(plane.audit))
        service.close()


@pytest.fixture
def hand(site: Site, request: pytest.FixtureRequest) -> Hand:
    return Hand(site, f"isvc-{abs(hash(request.node.name)) % 10**8}")


def describe(hand: Hand) -> str:
    return hand("get", KIND, "-o", "yaml") + hand("get", "pods")


def test_a_service_changes_its_strategy_and_goes_whole(hand: Hand):
    hand.bring(MODEL, RUNTIME)
    hand.apply(SERVICE)
    eventually("it is ready", lambda: hand.is_ready("chat"), lambda: describe(hand))
    assert {"deployment.apps/chat-engine", "deployment.apps/chat-router"} <= hand.list_left()
    hand("annotate", KIND, "chat", f"{MODE}={RBG}", "--overwrite")
    group = "rolebasedgroup.workloads.x-k8s.io/chat"
    eventually("it is a group", lambda: group in hand.list_left(), lambda: describe(hand))
    gone = "deployment.apps/chat-engine"
    eventually("the old one goes", lambda: gone not in hand.list_left(), lambda: describe(hand))
    eventually("it is ready", lambda: hand.is_ready("chat"), lambda: describe(hand))
    hand("annotate", KIND, "chat", f"{MODE}=RawDeployment", "--overwrite")
    eventually("the group goes", lambda: group not in hand.list_left(), lambda: describe(hand))
    eventually("it is ready", lambda: hand.is_ready("chat"), lambda: describe(hand))
    hand.delete("chat")


def test_a_foreign_deployment_of_the_name_stays_as_it_is(hand: Hand):
    hand.bring(MODEL, RUNTIME)
    hand.apply(FOREIGN)
    before = hand.read("deployment", "chat-engine")
    hand.apply(SERVICE)
    text = "Deployment chat-engine exists and lacks our labels"

    def is_told() -> bool:
        return text in hand.read_condition("chat", "Stalled").get("message", "")

    eventually("it is told", is_told, lambda: describe(hand))
    hand("delete", KIND, "chat", "--wait=true")
    after = hand.read("deployment", "chat-engine")
    assert (after["metadata"]["uid"], after["spec"]) == (before["metadata"]["uid"], before["spec"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames:
        is_all = metafunc.config.getoption("all_samples", default=False)
        wanted = (*CHOSEN, *MORE) if is_all else CHOSEN
        found = [each for each in list_samples() if each.id in wanted]
        metafunc.parametrize("sample", found, ids=lambda sample: sample.id)


@pytest.mark.parametrize("mode", ["", RBG], ids=["apart", "group"])
def test_a_sample_of_upstream_becomes_ready_and_goes(hand: Hand, sample: Sample, mode: str):
    name = sample.obj["metadata"]["name"]
    hand.bring(stand_in(sample), find_runtime(sample))
    hand.apply(sample.write(mode))
    eventually("it is ready", lambda: hand.is_ready(name), lambda: describe(hand))
    hand.delete(name)
