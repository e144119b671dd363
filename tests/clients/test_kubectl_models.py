"""Real kubectl with models and accelerators: they become ready, are shown, and leave nothing."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from client_tools import Tool
from kohort.cli.main import main
from kohort.testing import Cluster, start_cluster

pytestmark = pytest.mark.clients
SHARED = os.environ.get("KOHORT_SHARED")
API = "ome.io/v1beta1"
LABEL = "models.ome.io/clusterbasemodel.llama"
MODEL = {
    "apiVersion": API,
    "kind": "ClusterBaseModel",
    "metadata": {"name": "llama"},
    "spec": {"storage": {"storageUri": "hf://meta-llama/Llama-3.1-8B-Instruct"}},
}
ACCELERATOR = {
    "apiVersion": API,
    "kind": "AcceleratorClass",
    "metadata": {"name": "h100"},
    "spec": {
        "vendor": "nvidia",
        "discovery": {"nodeSelector": {"nvidia.com/gpu.present": "true"}},
        "capabilities": {"memoryGB": "80Gi"},
    },
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with start_cluster(nodes=4, speed=20.0, operator=True) as found:
        yield found


@pytest.fixture
def k(kubectl: Tool, cluster: Cluster):
    def run(*words: str, **options: object):
        return kubectl(f"--kubeconfig={cluster.kubeconfig}", *words, **options)

    return run


def apply(k, *objects: dict):
    return k("apply", "-f", "-", stdin=yaml.safe_dump_all(objects))


def test_a_model_becomes_ready_and_leaves_nothing_behind(k, cluster: Cluster, capsys):
    apply(k, MODEL)
    k("wait", "--for=jsonpath={.status.state}=Ready", "clusterbasemodel/llama", "--timeout=60s")
    k("wait", "--for=jsonpath={.spec.modelParameterSize}=8B", "clusterbasemodel/llama")
    k(
        "wait",
        f"--for=jsonpath={{.metadata.labels.{LABEL.replace('.', chr(92) + '.')}}}=Ready",
        "nodes",
        "--all",
    )
    assert main(["get", "clusterbasemodel", "--kubeconfig", str(cluster.kubeconfig)]) == 0
    assert "ClusterBaseModel" in capsys.readouterr().out
    k("delete", "clusterbasemodel", "llama", "--timeout=60s")
    nodes = json.loads(k("get", "nodes", "-o=json").stdout)["items"]
    assert not [n for n in nodes if LABEL in n["metadata"]["labels"]]
    reports = json.loads(k("get", "configmaps", "-n=ome", "-o=json").stdout)["items"]
    assert not [r for r in reports if "clusterbasemodel.llama" in (r.get("data") or {})]


def test_an_accelerator_lists_its_nodes(k):
    apply(k, ACCELERATOR)
    k("wait", "--for=jsonpath={.status.availableNodes}=4", "acceleratorclass/h100", "--timeout=60s")
    shown = k("get", "acceleratorclass", "h100", "--no-headers").stdout.split()
    assert shown == ["h100", "nvidia", "80Gi", "4"]
    k("delete", "acceleratorclass", "h100", "--timeout=60s")


@pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")
@pytest.mark.parametrize(("folder", "count"), [("models", 32), ("runtimes", 207)])
def test_all_that_upstream_ships_is_accepted(k, folder: str, count: int):
    root = Path(SHARED or ".", "data/ome", folder)
    paths = [p for p in sorted(root.rglob("*.yaml")) if p.name != "kustomization.yaml"]
    texts = "\n---\n".join(path.read_text() for path in paths)
    done = k("apply", "--server-side", "-f", "-", stdin=texts)
    made = [line for line in done.stdout.splitlines() if line.endswith("serverside-applied")]
    assert len(made) == count
