"""
The scenario of a seed for InferenceService: what users make and edit, its form, and faults.

The roles of a scenario are a text, such as ``engine 2, router 1``: the components and their least
replicas. With a size above 1, engine and decoder are groups of a leader and workers.

It has random streams of its own, so the scenarios of other APIs do not depend on it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.simulation.choices import Choices
from kohort.simulation.faults.catalogue import CATALOGUE, list_failures
from kohort.simulation.faults.draws import Draw, focus, of_part, of_watches, valued
from kohort.simulation.inferenceservice.labels import (
    COMPONENTS,
    MAIN,
    MODE,
    MODEL,
    ONE_GROUP,
    ROUTER,
    ROUTER_MAIN,
    RUNTIME,
    WORKLOAD,
)
from kohort.simulation.scenario import NAME, Fault, Scenario
from kohort.simulation.simulated_api import SpecEdits, Template

KINDS = (
    "Pod",
    "Pod",
    "InferenceService",
    "Deployment",
    "Deployment",
    "RoleBasedGroup",
    "RoleBasedGroup",
    "Service",
    "Service",
    "LeaderWorkerSet",
    "ConfigMap",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "RoleInstance",
    "RoleInstanceSet",
    "StatefulSet",
    "ClusterServingRuntime",
    "ClusterBaseModel",
)
ROLES = (
    "engine 1",
    "engine 2",
    "engine 1, router 1",
    "engine 2, router 2",
    "engine 1, decoder 1",
    "engine 1, decoder 2, router 1",
)
FORMS = ("", ONE_GROUP)
_GONE = ("Pod", "Pod", "Deployment", "RoleBasedGroup", "Service", "Service", "LeaderWorkerSet")
_MADE = ("HorizontalPodAutoscaler", "PodDisruptionBudget", "ConfigMap", "RoleInstance")
_PARTS = ("garbage", "kubelet", "scheduler", "deployments", "replicasets", "statefulsets")
# What acts on objects that a service does not have, or has under another name.
_OWN: dict[str, Draw] = {
    **of_watches(KINDS),
    "part-lag": of_part("part-lag", ("Pod", "Node", "StatefulSet"), _PARTS, 6.0),
    "delete-child": valued("delete-child", (*_GONE, *_MADE)),
    "namesake": valued("namesake", ("Service", "Service", "Deployment"), 4.0, 20.0),
    "relabel": valued("relabel", ("Service",)),
}
# StatefulSets belong to another controller, a service has no revisions, and no controller
# replaces a Deployment's pod because a user edited it.
NEVER = (
    "scale-child",
    "restart-set",
    "set-image",
    "swap-set",
    "edit-pod",
    "scale",
    "cost",
    "strip-label",
    "resize",
    "hold",
)
DRAWN_EDITS = (
    "switch",
    "switch",
    "roll",
    "bad-roll",
    "fleeting-roll",
    "scale-role",
    "reshape",
    "edit-shared",
    "edit-shared",
    "recreate",
    "orphan",
)
FAILURES = list_failures(NEVER)


def draw_scenario(seed: int) -> Scenario:
    """What this seed means."""
    choices = Choices(f"isvc/{seed}")
    scenario = _draw_workload(seed, choices)
    return focus(replace(scenario, faults=_draw_faults(choices)), "switch")


def _draw_workload(seed: int, choices: Choices) -> Scenario:
    return Scenario(
        seed=seed,
        api="isvc",
        groups=1,
        size=choices.pick((1, 1, 1, 2)),
        roles=choices.pick(ROLES),
        form=choices.pick(FORMS),
        replicas=choices.pick((1, 1, 1, 1, 2)),
        latency=choices.pick((0.0, 0.0, 0.01, 0.2)),
    )


def _draw_faults(choices: Choices) -> tuple[Fault, ...]:
    swarm = [choices.pick(FAILURES) for _ in range(1 + choices.below(4))]
    names = [choices.pick(swarm) for _ in range(choices.below(7))]
    edits = [choices.pick(DRAWN_EDITS) for _ in range(choices.below(3))]
    drawn = [_draw(name, choices) for name in ["switch", *edits, *names]]
    return tuple(sorted(drawn, key=lambda fault: (fault.at, fault.n)))


def _draw(name: str, choices: Choices) -> Fault:
    return _OWN.get(name, CATALOGUE[name].draw)(choices)


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
    picked = names[wanted.pick % len(names)]
    # Components that were added since the bad image was set must not hide which of them has it.
    mended = [name for name in names if runner_of(spec[name]).get("image") == wanted.mends]
    name = picked if picked in mended or not mended else mended[0]
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
