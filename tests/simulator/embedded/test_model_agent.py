"""The simulated model agent: what it guesses of models, and what it costs where there are none."""

import orjson
import pytest

from kohort.apis.inferenceservice.kinds import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE, NODE, POD
from kohort.simulator.embedded.model_agent import ModelAgent
from kohort.simulator.embedded.model_facts import FACTS, read_facts


def test_without_models_an_agent_watches_nothing():
    agent = ModelAgent()
    agent.watch_kinds([NODE, POD, CONFIG_MAP])
    assert agent.kinds == ()
    agent.watch_kinds([NODE, POD, CONFIG_MAP, CLUSTER_BASE_MODEL])
    assert agent.kinds == (NODE, CONFIG_MAP, NAMESPACE, CLUSTER_BASE_MODEL)
    agent.watch_kinds([BASE_MODEL, CLUSTER_BASE_MODEL])
    assert set(agent.kinds[-2:]) == {BASE_MODEL, CLUSTER_BASE_MODEL}


@pytest.mark.parametrize(
    ("source", "architecture", "size"),
    [
        ("hf://meta-llama/Llama-3.3-70B-Instruct", "LlamaForCausalLM", "70B"),
        ("hf://meta-llama/Llama-3.2-11B-Vision", "MllamaForConditionalGeneration", "11B"),
        ("hf://meta-llama/Meta-Llama-3.1-8B@main", "LlamaForCausalLM", "8B"),
        ("hf://mistralai/Mixtral-8x7B-Instruct-v0.1", "MixtralForCausalLM", "56B"),
        ("hf://intfloat/e5-mistral-7b-instruct", "MistralModel", "7B"),
        ("hf://Qwen/Qwen3-30B-A3B", "Qwen3MoeForCausalLM", "30B"),
        ("hf://Qwen/Qwen2.5-0.5B-Instruct", "Qwen2ForCausalLM", "0.5B"),
        ("hf://deepseek-ai/DeepSeek-V3", "DeepseekV3ForCausalLM", "685B"),
        ("hf://BAAI/bge-m3", "BertModel", "335M"),
        ("oci://n/space/b/models/o/something-of-ours", "LlamaForCausalLM", "7B"),
    ],
)
def test_the_name_of_a_source_tells_architecture_and_size(
    source: str, architecture: str, size: str
):
    facts = read_facts(source, "m", {})
    assert (facts["modelArchitecture"], facts["modelParameterSize"]) == (architecture, size)
    assert facts["modelFormat"] == {"name": "safetensors", "version": "1.0.0"}


def test_quantization_is_guessed_where_the_name_says_so():
    assert read_facts("hf://a/Llama-3.1-8B-FP8", "m", {})["quantization"] == "fp8"
    assert read_facts("hf://deepseek-ai/DeepSeek-R1", "m", {})["quantization"] == "fp8"
    assert "quantization" not in read_facts("hf://a/Llama-3.1-8B", "m", {})


def test_an_annotation_gives_the_facts_and_nonsense_in_it_is_passed_over():
    told = {"modelArchitecture": "X"}
    assert read_facts("hf://a/b", "m", {FACTS: orjson.dumps(told).decode()}) == told
    for nonsense in ("{", "[]", "7"):
        facts = read_facts("hf://a/llama-7b", "m", {FACTS: nonsense})
        assert facts["modelParameterSize"] == "7B"
