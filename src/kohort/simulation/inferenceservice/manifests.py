"""
The InferenceServices of simulations, their models and runtimes, and the edits of users.

The roles of a scenario are a text, such as ``engine 2, router 1``: the components and their least
replicas. With a size above 1, engine and decoder are groups of a leader and workers.
"""

from collections.abc import Iterator
from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.inferenceservice.labels import (
    COMPONENTS,
    MAIN,
    MODE,
    MODEL,
    ROUTER,
    ROUTER_MAIN,
    RUNTIME,
    WORKLOAD,
)
from kohort.simulation.scenario import NAME, Scenario
from kohort.simulation.simulated_api import SpecEdits, Template

MODEL_NAME, RUNTIME_NAME = "llama", "srt"
REPLICAS_MAX = 4
SHARED = "SHARED"  # a variable that only the runtime sets
_FORMAT = {"name": "safetensors", "version": "1.0.0"}
_FRAMEWORK = {"name": "transformers", "version": "4.43.0"}
_ARCHITECTURE = "LlamaForCausalLM"


def read_components(text: str) -> dict[str, int]:
    """The components of a text, and the least replicas of each."""
    pairs = (each.split() for each in text.split(","))
    return {name: int(count) for name, count in pairs}


def make_workload(scenario: Scenario, is_first: bool = False) -> Object:
    """The service that a user makes."""
    parts = {
        name: make_component(scenario, name, least)
        for name, least in read_components(scenario.roles).items()
    }
    notes = {MODE: scenario.form} if scenario.form else {}
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.name,
        "metadata": {"name": NAME, "annotations": notes},
        "spec": {"model": {"name": MODEL_NAME}, **parts},
    }


def make_component(scenario: Scenario, name: str, least: int) -> Object:
    """One component; what runs in it, but for its image, comes from the runtime."""
    made: Object = {"minReplicas": least, "maxReplicas": REPLICAS_MAX}
    if name == ROUTER:
        return made
    runner = {"name": MAIN, "image": "engine:1"}
    if scenario.size == 1:
        return {**made, "runner": runner}
    worker = {"size": scenario.size - 1, "runner": runner}
    return {**made, "leader": {"runner": runner}, "worker": worker}


def make_others(scenario: Scenario) -> list[tuple[Kind, Object]]:
    """The model and the runtime that the service refers to."""
    return [(MODEL, _make_model()), (RUNTIME, make_runtime(0))]


def _make_model() -> Object:
    spec = {
        "modelFormat": _FORMAT,
        "modelFramework": _FRAMEWORK,
        "modelArchitecture": _ARCHITECTURE,
        "modelParameterSize": "8B",
        "storage": {"storageUri": "hf://meta/llama", "path": "/mnt/models/llama"},
    }
    return _write(MODEL, MODEL_NAME, spec)


def make_runtime(edition: int) -> Object:
    """The runtime after so many edits."""
    variable = {"name": SHARED, "value": str(edition)}
    ports = [{"containerPort": 8080}]
    runner = {"name": MAIN, "image": "engine:0", "ports": ports, "env": [variable]}
    router = {"name": ROUTER_MAIN, "image": "router:1", "ports": ports, "env": [variable]}
    takes = {
        "modelFormat": _FORMAT,
        "modelFramework": _FRAMEWORK,
        "modelArchitecture": _ARCHITECTURE,
        "autoSelect": True,
        "priority": 1,
    }
    spec = {
        "supportedModelFormats": [takes],
        "engineConfig": {"runner": runner},
        "decoderConfig": {"runner": runner},
        "routerConfig": {"runner": router},
    }
    return _write(RUNTIME, RUNTIME_NAME, spec)


def _write(kind: Kind, name: str, spec: Object) -> Object:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name},
        "spec": spec,
    }


def list_components(spec: Object) -> Iterator[str]:
    """The components that a spec asks for, engine first."""
    return (name for name in COMPONENTS if spec.get(name))


def runner_of(component: Object) -> Object:
    """What runs in a component or in its leaders; empty if the runtime alone says it."""
    held: Any = component.get("leader") or component
    found: Object = held.get("runner") or {}
    return found


def _write_template(scenario: Scenario, workload: Object, wanted: Template) -> Object:
    """Another image of engine or decoder, in leaders and workers alike."""
    spec = workload["spec"]
    names = [name for name in list_components(spec) if name != ROUTER]
    name = names[wanted.pick % len(names)]
    runner = {"name": MAIN, "image": wanted.image}
    change: Object = {"annotations": wanted.notes}
    if spec[name].get("leader"):
        change |= {"leader": {"runner": runner}, "worker": {"runner": runner}}
    else:
        change["runner"] = runner
    return {name: change}


def _write_role_scale(workload: Object, count: int, pick: int) -> Object:
    names = list(list_components(workload["spec"]))
    return {names[pick % len(names)]: {"minReplicas": count}}


def _keep(workload: Object, value: int) -> Object:
    return {}


def list_free_names(scenario: Scenario, kind: Kind, pick: int) -> list[str]:
    """The names that children of a kind would have, another one first by each pick."""
    names = [f"{NAME}-{component}" for component in COMPONENTS]
    names = [NAME, *names] if kind == kinds.SERVICE else names
    start = pick % len(names)
    return [*names[start:], *names[:start]]


EDITS = SpecEdits(
    write_template=_write_template,
    write_size=_keep,
    write_partition=_keep,
    write_role_scale=_write_role_scale,
)
