"""``kohort new``: every manifest passes lint, and becomes ready."""

import io
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
import yaml
from command_lines import Told
from workload_hand import Hand, create_all

from kohort.apis.served import APIS
from kohort.cluster.objects import is_true

RunKohort = Callable[..., Told]
KINDS = ("lws", "ms", "rbg", "isvc")
KIND_OF = {api.short_name: api.kind for api in APIS}


@pytest.mark.parametrize(
    ("kind", "engine", "size"),
    [*product(KINDS, ("sglang", "vllm"), (["--example"], [], ["--gpus", "3"]))],
)
def test_every_manifest_passes_lint(
    run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch, kind: str, engine: str, size: list[str]
):
    text = run_kohort("new", kind, "--engine", engine, *size).out
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    told = run_kohort("lint", "--strict", "-")
    assert (told.code, told.out) == (0, ""), text


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_explains_itself_and_asks_no_cluster(
    run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch, kind: str
):
    monkeypatch.setenv("KUBECONFIG", "/nowhere/config")
    monkeypatch.setattr("socket.socket.connect", lambda *to: pytest.fail(f"it connects: {to}"))
    told = run_kohort("new", kind, "--example")
    assert (told.code, told.err) == (0, "")
    assert sum("# " in line for line in told.out.splitlines()) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_example_becomes_ready(kohort: RunKohort, cluster: Path, kind: str):
    text = kohort("new", kind, "--example", "--name", f"of-{kind}").out
    create_all(cluster, text)
    condition = "Available" if kind in ("lws", "ms") else "Ready"
    hand = Hand(cluster, f"of-{kind}", KIND_OF[kind])
    hand.wait_for(lambda obj: is_true(obj, condition))
    assert "ready" in kohort("get", f"{kind}/of-{kind}").out


def test_gpus_of_several_nodes_make_several_pods(run_kohort: RunKohort):
    body = yaml.safe_load(run_kohort("new", "lws", "--gpus", "16").out)
    template = body["spec"]["leaderWorkerTemplate"]
    container = template["workerTemplate"]["spec"]["containers"][0]
    assert (template["size"], container["resources"]["limits"]) == (2, {"nvidia.com/gpu": 8})
    assert "--tp 16" in container["command"][2]
    assert "--nnodes $LWS_GROUP_SIZE --node-rank $LWS_WORKER_INDEX" in container["command"][2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("lws", "--gpus", "12"), "--gpus 12 is no multiple of the 8 GPUs of a node"),
        (("isvc", "--gpus", "16"), "16 GPUs need 2 nodes"),
        (("lws", "--model", "a; rm -rf /"), "cannot stand in a command line"),
        (("lws", "--image", "a\nb"), "cannot stand in a command line"),
        (("lws", "--name", "A_b"), "--name 'A_b': a DNS-1035 label"),
        (("lws", "--example", "--gpus", "8"), "--example has counts of its own"),
        (("lws", "--example", "--replicas", "5"), "--example has counts of its own"),
        (("isvc", "--gpus-per-node", "4"), "and 8 GPUs need 2 nodes"),
        (("lwz",), "'lwz' (did you mean 'lws'?) is none of lws, ms, rbg, isvc"),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_is_printed(
    run_kohort: RunKohort, words: tuple[str, ...], sentence: str
):
    told = run_kohort("new", *words)
    assert (told.code, told.out) == (2, "")
    assert sentence in told.err
