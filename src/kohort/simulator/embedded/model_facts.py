"""
Facts that a model agent would read from a model's files, guessed from its name.

An annotation gives the facts as JSON. Without one they are guessed from the name that the model
has at its source: its series gives architecture and version, a number with a letter its size. A
series that is not known here gets the facts of a Llama, so that a runtime can be found for it.
"""

import re
from typing import NamedTuple

from kohort.apis.inferenceservice.fields import parse_object
from kohort.cluster.objects import Object
from kohort.simulator.stages import PREFIX

FACTS = f"{PREFIX}model-facts"  # on a model: a JSON object, as the agent would write it

_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([bmt])(?![a-z0-9])", re.IGNORECASE)
_EXPERTS = re.compile(r"(?<![a-z0-9.])(\d+)x(\d+)b(?![a-z0-9])", re.IGNORECASE)
_TEXT, _EMBEDDING, _IMAGE = "TEXT_TO_TEXT", "TEXT_TO_EMBEDDING", "IMAGE_TEXT_TO_TEXT"


class ModelSeries(NamedTuple):
    """A series of models, and the facts in their configuration."""

    pattern: str
    type: str
    architecture: str
    version: str  # of transformers
    capability: str = _TEXT
    quantization: str = ""
    size: str = ""  # where names do not tell it


_SERIES = (
    ModelSeries(r"e5-mistral", "mistral", "MistralModel", "4.34.0", _EMBEDDING),
    ModelSeries(r"\bbge-|embed", "bert", "BertModel", "4.30.0", _EMBEDDING, size="335M"),
    ModelSeries(
        r"deepseek-(v3|r1)$", "deepseek_v3", "DeepseekV3ForCausalLM", "4.33.1", _TEXT, "fp8", "685B"
    ),
    ModelSeries(r"llama-4", "llama4", "Llama4ForConditionalGeneration", "4.51.0", _IMAGE),
    ModelSeries(
        r"llama-3\.2-\d+b-vision", "mllama", "MllamaForConditionalGeneration", "4.45.0", _IMAGE
    ),
    ModelSeries(r"llama-3\.3", "llama", "LlamaForCausalLM", "4.47.0.dev0"),
    ModelSeries(r"llama-3\.2", "llama", "LlamaForCausalLM", "4.45.0.dev0"),
    ModelSeries(r"llama-3\.1", "llama", "LlamaForCausalLM", "4.42.3"),
    ModelSeries(r"mixtral", "mixtral", "MixtralForCausalLM", "4.36.0.dev0"),
    ModelSeries(r"mistral", "mistral", "MistralForCausalLM", "4.36.0"),
    ModelSeries(
        r"qwen2\.5-vl", "qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", "4.41.2", _IMAGE
    ),
    ModelSeries(r"qwen3-\d+b-a\d+b", "qwen3_moe", "Qwen3MoeForCausalLM", "4.51.0"),
    ModelSeries(r"qwen3", "qwen3", "Qwen3ForCausalLM", "4.51.0"),
    ModelSeries(r"qwen2|qwq", "qwen2", "Qwen2ForCausalLM", "4.43.1"),
    ModelSeries(r"gpt-oss", "gpt_oss", "GptOssForCausalLM", "4.55.0"),
    ModelSeries(r"gemma-3", "gemma3", "Gemma3ForConditionalGeneration", "4.50.0.dev0", _IMAGE),
    ModelSeries(r"gemma-2", "gemma2", "Gemma2ForCausalLM", "4.42.0.dev0"),
    ModelSeries(r"phi-[34]", "phi3", "Phi3ForCausalLM", "4.47.0"),
)
_UNKNOWN = ModelSeries("", "llama", "LlamaForCausalLM", "4.43.0", size="7B")


def read_facts(uri: str, name: str, annotations: dict[str, str]) -> Object:
    """The facts of a model, by its annotation or by its name."""
    given = annotations.get(FACTS)
    found = parse_object(given) if given else None
    return _guess(_find_text(uri, name)) if found is None else found


def _find_text(uri: str, name: str) -> str:
    """The model's name in its storage URI, or else its own name."""
    last = uri.partition("@")[0].rstrip("/").rpartition("/")[2]
    return (last or name).lower().replace("_", "-").removeprefix("meta-")


def _guess(text: str) -> Object:
    found = next((f for f in _SERIES if re.search(f.pattern, text)), _UNKNOWN)
    facts: Object = {
        "modelType": found.type,
        "modelArchitecture": found.architecture,
        "modelParameterSize": _find_size(text) or found.size or _UNKNOWN.size,
        "modelCapabilities": [found.capability],
        "modelFramework": {"name": "transformers", "version": found.version},
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "maxTokens": 8192 if found.capability == _TEXT else 512,
    }
    quantization = found.quantization or ("fp8" if "fp8" in text else "")
    return {**facts, "quantization": quantization} if quantization else facts


def _find_size(text: str) -> str:
    experts = _EXPERTS.search(text)
    if experts is not None:
        return f"{int(experts[1]) * int(experts[2])}B"
    size = _SIZE.search(text)
    return f"{size[1]}{size[2].upper()}" if size is not None else ""
