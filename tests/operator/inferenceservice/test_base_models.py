"""Models on nodes: agents bring them, and their controller says how far they are."""

import orjson
import pytest
from model_lab import DOWNLOAD_ERROR, DOWNLOAD_FOR, FACTS, FIRST_RACK, KEY, LABEL, ModelLab, model

from kohort.apis.inferenceservice import kinds as ome
from kohort.cluster import kinds
from kohort.cluster.objects import name_of
from kohort.simulator.nodes import NodeMake, make_node

NODES = [f"gpu-0{number}" for number in range(8)]
CLUSTER, NAMESPACED = ome.CLUSTER_BASE_MODEL, ome.BASE_MODEL


async def test_a_model_becomes_ready_on_every_node(lab: ModelLab):
    await lab.apply(model())
    await lab.until(lambda: lab.status().get("nodesReady") == NODES, 20)
    assert lab.status() == {"state": "Ready", "nodesReady": NODES}
    assert lab.nodes_with(LABEL) == NODES
    assert lab.entry("gpu-00")["status"] == "Ready"


async def test_a_model_is_in_transit_while_it_is_downloaded(lab: ModelLab):
    await lab.apply(model(notes={DOWNLOAD_FOR: "1m"}))
    await lab.run(30)
    assert lab.status() == {"state": "In_Transit"}
    assert lab.nodes_with(LABEL, "Updating") == NODES
    await lab.run(31)
    assert lab.is_ready()


async def test_a_model_of_a_namespace_has_its_own_label_and_entry(lab: ModelLab):
    await lab.apply(model(namespace="default"))
    await lab.run(5)
    assert lab.see(NAMESPACED, "llama", "default")["status"]["state"] == "Ready"
    assert lab.nodes_with("models.ome.io/default.basemodel.llama") == NODES
    assert lab.entry("gpu-00", "default.basemodel.llama")["name"] == "llama"
    assert lab.nodes_with(LABEL) == []


async def test_facts_from_the_files_fill_what_the_user_left_open(lab: ModelLab):
    facts = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelArchitecture": "LlamaForCausalLM",
        "modelParameterSize": "8B",
        "quantization": "fp8",
    }
    told = {FACTS: orjson.dumps(facts).decode()}
    await lab.apply(model(notes=told, modelParameterSize="9B", vendor="meta"))
    await lab.run(5)
    spec = lab.model()["spec"]
    assert spec["modelFormat"]["name"] == "safetensors"
    assert (spec["modelParameterSize"], spec["quantization"]) == ("9B", "fp8")
    assert (spec["modelArchitecture"], spec["vendor"]) == ("LlamaForCausalLM", "meta")


async def test_without_files_facts_are_guessed_from_the_source(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    spec = lab.model()["spec"]
    assert spec["modelArchitecture"] == "LlamaForCausalLM"
    assert spec["modelParameterSize"] == "8B"
    assert spec["modelFramework"]["name"] == "transformers"


@pytest.mark.parametrize(
    ("storage", "nodes"),
    [
        (FIRST_RACK, NODES[:4]),
        (
            {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {
                                "matchFields": [
                                    {
                                        "key": "metadata.name",
                                        "operator": "In",
                                        "values": ["gpu-02"],
                                    }
                                ]
                            },
                            {
                                "matchExpressions": [
                                    {
                                        "key": "topology.kohort.dev/rack",
                                        "operator": "NotIn",
                                        "values": ["rack-0"],
                                    }
                                ]
                            },
                        ]
                    }
                }
            },
            ["gpu-02", *NODES[4:]],
        ),
        ({"storageUri": "pvc://claim/llama"}, []),
    ],
    ids=["selector", "affinity", "claim"],
)
async def test_a_model_comes_only_to_nodes_that_it_chooses(
    lab: ModelLab, storage: dict, nodes: list[str]
):
    await lab.apply(model(storage=storage))
    await lab.run(5)
    assert lab.nodes_with(LABEL) == nodes
    assert lab.status().get("nodesReady", []) == nodes


async def test_a_failed_download_is_told_and_tried_again_when_mended(lab: ModelLab):
    await lab.apply(model(notes={DOWNLOAD_ERROR: "no space left"}))
    await lab.run(5)
    assert lab.status() == {"state": "Failed", "nodesFailed": NODES}
    assert lab.nodes_with(LABEL, "Failed") == NODES
    (event,) = lab.events("ModelFailed")
    assert event["metadata"]["namespace"] == "default"
    await lab.annotate(CLUSTER, "llama", download_error=None)
    await lab.until(lambda: lab.status() == {"state": "Ready", "nodesReady": NODES}, 20)


async def test_one_node_that_has_a_model_is_enough(lab: ModelLab):
    for node in NODES[1:]:
        await lab.annotate(kinds.NODE, node, download_error="broken disk")
    await lab.apply(model())
    await lab.run(5)
    assert lab.status() == {"state": "Ready", "nodesReady": NODES[:1], "nodesFailed": NODES[1:]}


async def test_a_source_that_the_agent_does_not_know_fails(lab: ModelLab):
    await lab.apply(model(storage={"storageUri": "s3://bucket/llama"}))
    await lab.run(5)
    assert lab.status()["state"] == "Failed"


async def test_a_node_that_joins_later_gets_the_model(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    await lab.apply(make_node(8, NodeMake(nodes=9), "2026-01-01T00:00:05Z", rack=1))
    await lab.run(5)
    assert lab.status()["nodesReady"] == [*NODES, "gpu-08"]


async def test_a_node_that_goes_takes_its_report_along(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    await lab.remove(kinds.NODE, "gpu-00")
    await lab.run(5)
    assert lab.status()["nodesReady"] == NODES[1:]
    assert lab.see(kinds.CONFIG_MAP, "gpu-00", "ome") == {}


async def test_the_agent_of_a_failed_node_says_nothing_until_it_is_back(lab: ModelLab):
    await lab.annotate(kinds.NODE, "gpu-00", failed="true")
    await lab.apply(model())
    await lab.run(5)
    assert lab.status()["nodesReady"] == NODES[1:]
    await lab.annotate(kinds.NODE, "gpu-00", failed=None)
    await lab.until(lambda: lab.status()["nodesReady"] == NODES, 20)


async def test_another_source_is_downloaded_anew(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    other = {"spec": {"storage": {"storageUri": "hf://meta-llama/Llama-3.1-70B-Instruct"}}}
    await lab.change(CLUSTER, "llama", {**other, "metadata": {"annotations": {DOWNLOAD_FOR: "9s"}}})
    await lab.run(3)
    assert lab.status() == {"state": "In_Transit"}
    await lab.run(9)
    assert lab.is_ready()
    assert lab.entry("gpu-00")["config"]["modelParameterSize"] == "70B"


async def test_a_deleted_model_leaves_nothing_behind(lab: ModelLab):
    await lab.apply(model())
    await lab.apply(model("other"))
    await lab.run(5)
    assert lab.model()["metadata"]["finalizers"] == ["clusterbasemodels.ome.io/finalizer"]
    await lab.remove(CLUSTER, "llama")
    await lab.run(5)
    assert lab.model() == {}
    assert lab.nodes_with(LABEL) == []
    assert KEY not in lab.see(kinds.CONFIG_MAP, "gpu-00", "ome")["data"]
    assert lab.is_ready("other")


async def test_a_deleted_model_stays_until_the_last_node_has_given_it_up(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    await lab.annotate(kinds.NODE, "gpu-03", failed="true")
    await lab.remove(CLUSTER, "llama")
    await lab.run(60)
    assert lab.status()["nodesReady"] == ["gpu-03"]
    assert lab.events("DeletionWaits")
    await lab.annotate(kinds.NODE, "gpu-03", failed=None)
    await lab.until(lambda: lab.model() == {}, 20)


async def test_finalizers_of_others_stay(lab: ModelLab):
    held = model()
    held["metadata"]["finalizers"] = ["example.com/keep"]
    await lab.apply(held)
    await lab.run(5)
    await lab.remove(CLUSTER, "llama")
    await lab.run(5)
    assert lab.model()["metadata"]["finalizers"] == ["example.com/keep"]


async def test_at_rest_nothing_is_written(lab: ModelLab):
    await lab.apply(model())
    await lab.apply(model(namespace="default"))
    await lab.run(30)
    before = lab.api.store.revision
    await lab.run(600)
    assert lab.api.store.revision == before


async def test_an_operator_that_starts_anew_writes_nothing(lab: ModelLab):
    await lab.apply(model())
    await lab.run(30)
    await lab.stop_operator()
    before = lab.api.store.revision
    lab.start_operator()
    await lab.run(60)
    assert lab.api.store.revision == before


async def test_labels_that_a_user_wrote_stay(lab: ModelLab):
    label = "models.ome.io/clusterbasemodel.other"
    await lab.change(kinds.NODE, "gpu-00", {"metadata": {"labels": {label: "Ready"}}})
    await lab.apply(model("other", storage={"storageUri": "pvc://claim/x"}))
    await lab.apply(model())
    await lab.run(5)
    assert lab.nodes_with(label) == ["gpu-00"]


async def test_events_of_models_without_a_namespace_lie_in_default(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    (event,) = lab.events("ModelReady")
    assert event["involvedObject"]["kind"] == "ClusterBaseModel"
    assert name_of(event).startswith("llama.")
    assert event["source"]["component"] == "v1beta1Controllers"


@pytest.mark.parametrize("writes", [1, 2, 3, 4, 5])
async def test_an_operator_that_ends_after_any_write_leaves_a_model_that_another_takes_on(
    lab: ModelLab, writes: int
):
    lab.cluster.left = writes
    await lab.apply(model())
    await lab.run(5)
    if lab.cluster.is_dead:
        await lab.stop_operator()
        lab.start_operator()
    await lab.until(lambda: lab.status() == {"state": "Ready", "nodesReady": NODES}, 30)
    assert lab.model()["spec"]["modelParameterSize"] == "8B"
    assert lab.model()["metadata"]["finalizers"] == ["clusterbasemodels.ome.io/finalizer"]
    await lab.remove(CLUSTER, "llama")
    await lab.until(lambda: lab.model() == {}, 30)


async def test_long_names_are_cut_in_labels_and_found_all_the_same(lab: ModelLab):
    long = "llama-3-2-90b-vision-instruct-fp8-dynamic"
    await lab.apply(model(long))
    await lab.run(5)
    assert lab.status(long)["nodesReady"] == NODES
    await lab.remove(kinds.NODE, "gpu-07")
    await lab.run(5)
    assert lab.status(long)["nodesReady"] == NODES[:-1]
    await lab.remove(CLUSTER, long)
    await lab.run(5)
    marks = [key for node in lab.all(kinds.NODE) for key in node["metadata"]["labels"]]
    assert not [key for key in marks if key.startswith("models.ome.io/")]


async def test_a_report_that_another_client_deletes_is_written_again(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    await lab.remove(kinds.CONFIG_MAP, "gpu-00", "ome")
    await lab.run(5)
    assert lab.status()["nodesReady"] == NODES
    assert lab.entry("gpu-00")["status"] == "Ready"


async def test_what_a_user_writes_while_facts_are_filled_in_stays(lab: ModelLab):
    await lab.apply(model())
    await lab.run(5)
    await lab.change(CLUSTER, "llama", {"spec": {"modelParameterSize": "9B"}})
    await lab.run(5)
    assert lab.model()["spec"]["modelParameterSize"] == "9B"


async def test_a_report_of_a_node_that_does_not_exist_does_not_count(lab: ModelLab):
    entry = orjson.dumps({"name": "llama", "status": "Ready"}).decode()
    metadata = {"name": "ghost", "namespace": "ome", "finalizers": ["example.com/keep"]}
    metadata["labels"] = {"models.ome/basemodel-status": "true"}
    await lab.apply(model(storage=FIRST_RACK))
    await lab.run(5)
    lab.namespace = "ome"
    head = {"apiVersion": "v1", "kind": "ConfigMap"}
    await lab.apply({**head, "metadata": metadata, "data": {KEY: entry}})
    await lab.run(5)
    assert lab.status()["nodesReady"] == NODES[:4]


async def test_a_model_that_failed_gets_no_conditions_for_which_there_is_no_room(lab: ModelLab):
    await lab.apply(model(notes={DOWNLOAD_ERROR: "no space left"}))
    await lab.run(10)
    await lab.stop_operator()
    lab.start_operator()
    await lab.run(60)
    assert not lab.cluster.tried
