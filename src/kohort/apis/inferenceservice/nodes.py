"""
The state of models and accelerators on nodes.

The model agent keeps a ConfigMap for each node, with an entry for each model. A model is ready as
soon as one node has it. Facts that the agent reads from a model's files fill only those spec fields
that the user left open.
"""

from collections.abc import Iterable, Mapping

from kohort.apis.inferenceservice import names
from kohort.apis.inferenceservice.fields import parse_object, read_map, read_object, read_text
from kohort.apis.inferenceservice.models import BaseModel
from kohort.apis.inferenceservice.runtimes import AcceleratorClass
from kohort.cluster.objects import Object, labels_of, name_of
from kohort.cluster.quantities import parse_quantity

READY, FAILED, DELETED, IN_TRANSIT = "Ready", "Failed", "Deleted", "In_Transit"
# Spec fields that we fill from the agent's facts; upstream does not fill the last three.
_FILLED = (
    "modelType",
    "modelArchitecture",
    "modelParameterSize",
    "modelCapabilities",
    "modelFramework",
    "modelFormat",
    "maxTokens",
    "quantization",
    "apiCapabilities",
    "diffusionPipeline",
)


def read_entries(
    model: BaseModel, config_maps: Iterable[Object], nodes: Iterable[str]
) -> dict[str, Object]:
    """The model agent's entry about a model for each existing node, by node."""
    key, known = names.model_status_key(model.name, model.namespace), set(nodes)
    found: dict[str, Object] = {}
    for each in config_maps:
        text = read_map(each, "data").get(key)
        if text is None or name_of(each) not in known:
            continue
        entry = parse_object(text)
        if entry is not None:
            found[name_of(each)] = entry
    return found


def write_model_status(entries: Mapping[str, Object]) -> Object:
    """The status of a model: ready as soon as one node has it."""
    ready = sorted(n for n, entry in entries.items() if read_text(entry, "status") == READY)
    failed = sorted(n for n, entry in entries.items() if read_text(entry, "status") == FAILED)
    state = READY if ready else FAILED if failed else IN_TRANSIT
    status: Object = {"state": state}
    if ready:
        status["nodesReady"] = ready
    if failed:
        status["nodesFailed"] = failed
    return status


def find_facts(spec: Object, entries: Mapping[str, Object]) -> Object:
    """Values from a model's files for fields of its spec that the user left open."""
    found: Object = {}
    for _, entry in sorted(entries.items()):
        config = read_object(entry, "config")
        for name in _FILLED:
            if config.get(name) and not spec.get(name):
                found.setdefault(name, config[name])
    return found


def may_delete(entries: Mapping[str, Object]) -> bool:
    """Whether the model agent has deleted a model's files from all nodes."""
    return all(read_text(entry, "status") == DELETED for entry in entries.values())


def write_accelerator_status(accelerator: AcceleratorClass, nodes: Iterable[Object]) -> Object:
    """The status of an accelerator: nodes that match its selector and have enough memory."""
    found = sorted(name_of(node) for node in nodes if _has(node, accelerator))
    return {"nodes": found, "availableNodes": len(found)}


def _has(node: Object, accelerator: AcceleratorClass) -> bool:
    held = labels_of(node)
    selector = accelerator.node_selector
    if not selector or any(held.get(key) != value for key, value in selector.items()):
        return False
    if accelerator.memory_gib is None:
        return True
    capacity = read_object(read_object(node, "status"), "capacity").get("memory")
    try:
        memory = parse_quantity(capacity) if capacity is not None else 0
    except ValueError:
        return False
    return memory // 10**9 >= accelerator.memory_gib * 2**30
