"""What nodes say of models and accelerators."""

import orjson
import pytest
from isvc_builders import accelerator, model

from kohort.apis.inferenceservice.models import read_model
from kohort.apis.inferenceservice.nodes import (
    find_facts,
    may_delete,
    read_entries,
    write_accelerator_status,
    write_model_status,
)
from kohort.apis.inferenceservice.runtimes import read_accelerator

KEY = "clusterbasemodel.llama"


def note(node: str, status: str = "Ready", **config) -> dict:
    entry = {"name": "llama", "status": status, "config": config}
    return {"metadata": {"name": node}, "data": {KEY: orjson.dumps(entry).decode()}}


def entries(*notes: dict, nodes=("a", "b", "c")) -> dict:
    return read_entries(read_model(model()), notes, nodes)


@pytest.mark.parametrize(
    ("notes", "status"),
    [
        ([], {"state": "In_Transit"}),
        ([note("a", "Updating")], {"state": "In_Transit"}),
        ([note("a", "Failed")], {"state": "Failed", "nodesFailed": ["a"]}),
        (
            [note("c"), note("a", "Failed"), note("b")],
            {"state": "Ready", "nodesReady": ["b", "c"], "nodesFailed": ["a"]},
        ),
    ],
)
def test_a_model_is_ready_as_soon_as_one_node_has_it(notes: list, status: dict):
    assert write_model_status(entries(*notes)) == status


def test_a_node_that_has_gone_says_nothing():
    assert entries(note("a"), nodes=()) == {}


def test_an_entry_that_is_no_json_says_nothing():
    broken = {"metadata": {"name": "a"}, "data": {KEY: "{"}}
    assert entries(broken) == {}


def test_a_model_of_a_namespace_has_a_key_of_its_own():
    local = {"metadata": {"name": "a"}, "data": {"ml.basemodel.llama": '{"status":"Ready"}'}}
    found = read_entries(read_model(model(namespace="ml")), [local], ["a"])
    assert found == {"a": {"status": "Ready"}}


def test_facts_fill_in_only_what_is_open():
    spec = {"modelType": "mine", "storage": {}}
    facts = {"modelType": "llama", "quantization": "fp8", "modelFormat": {"name": "safetensors"}}
    assert find_facts(spec, entries(note("a", **facts))) == {
        "modelFormat": {"name": "safetensors"},
        "quantization": "fp8",
    }


def test_a_model_goes_when_all_nodes_have_given_it_up():
    assert may_delete(entries())
    assert may_delete(entries(note("a", "Deleted")))
    assert not may_delete(entries(note("a", "Deleted"), note("b")))


def node(name: str, memory: str | None = "2Ti", **labels: str) -> dict:
    capacity = {} if memory is None else {"memory": memory}
    return {"metadata": {"name": name, "labels": labels}, "status": {"capacity": capacity}}


def test_an_accelerator_is_where_its_labels_and_memory_are():
    found = read_accelerator(
        accelerator(
            "h100",
            discovery={"nodeSelector": {"gpu": "h100"}},
            capabilities={"memoryGB": "80Gi"},
        )
    )
    nodes = [
        node("b", gpu="h100"),
        node("a", gpu="h100"),
        node("other", gpu="a100"),
        node("small", "64Gi", gpu="h100"),
        node("unknown", None, gpu="h100"),
        node("broken", "much", gpu="h100"),
    ]
    assert write_accelerator_status(found, nodes) == {"nodes": ["a", "b"], "availableNodes": 2}


def test_an_accelerator_without_labels_is_nowhere():
    found = read_accelerator(accelerator("any"))
    assert write_accelerator_status(found, [node("a")])["nodes"] == []
