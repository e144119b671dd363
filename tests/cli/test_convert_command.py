"""``kohort convert``, as people and pipes see it."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
import yaml

SAMPLES = Path(os.environ.get("KOHORT_SHARED", "/nonexistent")) / "data" / "lws"
FILES = sorted(p for p in SAMPLES.rglob("*.yaml") if "\nkind: LeaderWorkerSet\n" in p.read_text())
TEMPLATE = {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}}
LWS_NAME = "leaderworkerset.sigs.k8s.io/name"
WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"
SET = {
    "apiVersion": "leaderworkerset.x-k8s.io/v1",
    "kind": "LeaderWorkerSet",
    "metadata": {"name": "llama"},
    "spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}},
}
SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "llama-leader"},
    "spec": {"selector": {LWS_NAME: "llama", WORKER_INDEX: "0"}, "ports": [{"port": 80}]},
}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "llama"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {LWS_NAME: "llama"}}},
}
SCALER = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "llama"},
    "spec": {
        "maxReplicas": 5,
        "scaleTargetRef": {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "name": "llama",
        },
    },
}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"on": "1"}}
WAITING = {**SET, "spec": {**SET["spec"], "startupPolicy": "LeaderReady"}}


@pytest.fixture
def write(tmp_path):
    def write(*documents: dict, name: str = "input.yaml") -> str:
        path = tmp_path / name
        path.write_text(yaml.safe_dump_all(documents))
        return str(path)

    return write


def read_all(text: str) -> list:
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def test_a_set_becomes_a_modelserving_and_the_report_goes_to_stderr(run_kohort, write):
    told = run_kohort("convert", write(SET))
    assert told.code == 0
    (made,) = read_all(told.out)
    assert made["kind"] == "ModelServing"
    assert "exact        LeaderWorkerSet/llama  spec.replicas -> spec.replicas\n" in told.err
    assert "exact" not in told.out


def test_standard_input_is_read(run_kohort, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(yaml.safe_dump(SET)))
    told = run_kohort("convert", "-")
    assert (told.code, read_all(told.out)[0]["kind"]) == (0, "ModelServing")


def test_several_files_documents_and_lists_are_converted_in_their_order(run_kohort, write):
    other = {**SET, "metadata": {"name": "second"}}
    listed = {"apiVersion": "v1", "kind": "List", "items": [other, CONFIG]}
    told = run_kohort("convert", write(SERVICE, SET), write(listed, name="more.yaml"))
    names = [(obj["kind"], obj["metadata"]["name"]) for obj in read_all(told.out)]
    assert names == [
        ("Service", "llama-leader"),
        ("ModelServing", "llama"),
        ("ModelServing", "second"),
        ("ConfigMap", "c"),
    ]


def test_other_documents_pass_unchanged(run_kohort, write):
    told = run_kohort("convert", write(CONFIG, SET, SERVICE, SCALER, BUDGET))
    config, _, service, scaler, budget = read_all(told.out)
    assert (config, service, scaler, budget) == (CONFIG, SERVICE, SCALER, BUDGET)
    assert "it still points to the LeaderWorkerSet; --rewrite-selectors rewrites it" in told.err


def test_a_loss_that_matters_ends_with_4_and_prints_no_object(run_kohort, write):
    told = run_kohort("convert", write(WAITING))
    assert (told.code, told.out) == (4, "")
    assert "lost         LeaderWorkerSet/llama  spec.startupPolicy: " in told.err
    assert "--allow-lossy prints it" in told.err


def test_a_loss_is_taken_with_allow_lossy(run_kohort, write):
    told = run_kohort("convert", "--allow-lossy", write(WAITING))
    assert (told.code, read_all(told.out)[0]["kind"]) == (0, "ModelServing")


def test_json_holds_report_and_objects(run_kohort, write):
    told = run_kohort("convert", "-o", "json", write(SET))
    found = json.loads(told.out)
    assert found["objects"][0]["kind"] == "ModelServing"
    assert {
        "object": "LeaderWorkerSet/llama",
        "level": "exact",
        "field": "spec.replicas",
        "target": "spec.replicas",
        "note": "",
        "matters": False,
    } in found["report"]


def test_json_of_a_loss_holds_the_report_alone(run_kohort, write):
    told = run_kohort("convert", "-o", "json", write(WAITING))
    found = json.loads(told.out)
    assert (told.code, found["objects"]) == (4, [])
    assert [line["field"] for line in found["report"] if line["matters"]] == ["spec.startupPolicy"]


def test_services_budgets_and_autoscalers_follow_the_set_on_request(run_kohort, write):
    told = run_kohort("convert", "--rewrite-selectors", write(SET, SERVICE, BUDGET, SCALER))
    _, service, budget, scaler = read_all(told.out)
    assert service["spec"]["selector"] == {
        "modelserving.volcano.sh/name": "llama",
        "modelserving.volcano.sh/entry": "true",
    }
    labels = {"modelserving.volcano.sh/name": "llama"}
    assert budget["spec"] == {"minAvailable": 1, "selector": {"matchLabels": labels}}
    assert scaler["spec"]["scaleTargetRef"] == {
        "apiVersion": "workload.serving.volcano.sh/v1alpha1",
        "kind": "ModelServing",
        "name": "llama",
    }


def test_the_way_back_gives_the_same_objects(run_kohort, write):
    there = run_kohort("convert", "--rewrite-selectors", write(SET, SERVICE, BUDGET, SCALER))
    back = write(*read_all(there.out), name="back.yaml")
    told = run_kohort("convert", "--to", "lws", "--rewrite-selectors", back)
    found, *others = read_all(told.out)
    assert told.code == 0
    assert found["kind"] == "LeaderWorkerSet"
    assert found["spec"]["leaderWorkerTemplate"]["workerTemplate"] == TEMPLATE
    assert others == [SERVICE, BUDGET, SCALER]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), 2, "the following arguments are required: FILE"),
        (("--role", "Not_A_Role", "x"), 2, "'Not_A_Role' cannot be the name of a role"),
        (("--role", "thirteen-long", "x"), 2, "it has more than 12 characters"),
        (("--to", "pods", "x"), 2, "'pods' is none of ms, lws"),
        (("no-such-file.yaml",), 1, "no-such-file.yaml: no such file or directory"),
    ],
)
def test_what_makes_no_sense_is_refused(run_kohort, words, code: int, sentence: str):
    told = run_kohort("convert", *words)
    assert told.code == code
    assert sentence in told.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("a: [", "is no YAML"), ("just a text", "is no object of Kubernetes: no kind")],
)
def test_a_file_that_holds_no_objects_is_refused(run_kohort, tmp_path, text: str, sentence: str):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    told = run_kohort("convert", str(path))
    assert (told.code, told.out) == (1, "")
    assert sentence in told.err


def test_a_date_stays_the_text_that_it_was(run_kohort, tmp_path):
    path = tmp_path / "dated.yaml"
    path.write_text("kind: ConfigMap\ndata:\n  day: 2024-01-02\n")
    told = run_kohort("convert", str(path))
    assert read_all(told.out) == [{"kind": "ConfigMap", "data": {"day": "2024-01-02"}}]
    assert "note: there is nothing to convert to ms in the input" in told.err


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_every_sample_of_upstream_is_converted(run_kohort, path: Path):
    has_claims = "volumeClaimTemplates" in path.read_text()
    assert run_kohort("convert", str(path)).code == (4 if has_claims else 0)
    told = run_kohort("convert", "--allow-lossy", "--rewrite-selectors", str(path))
    kinds = [obj["kind"] for obj in read_all(told.out)]
    assert told.code == 0
    assert "ModelServing" in kinds and "LeaderWorkerSet" not in kinds


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("replicas", "two", "spec.replicas"),
        ("startupPolicy", "Later", "spec.startupPolicy"),
        ("leaderWorkerTemplate", [], "spec.leaderWorkerTemplate"),
    ],
)
def test_an_object_that_its_schema_refuses_is_refused_with_the_field(
    run_kohort, write, field: str, value, sentence: str
):
    told = run_kohort("convert", write({**SET, "spec": {**SET["spec"], field: value}}))
    assert (told.code, told.out) == (1, "")
    assert "LeaderWorkerSet llama is wrong: " in told.err
    assert sentence in told.err


def test_labels_that_are_no_texts_are_refused(run_kohort, write):
    told = run_kohort("convert", write({**SET, "metadata": {"name": "x", "labels": {"a": 1}}}))
    assert (told.code, told.out) == (1, "")
    assert "metadata.labels must map texts to texts" in told.err
