"""
A cluster whose clock stands but for steps, with workloads of all four APIs in trouble.

| time | what happens |
|---|---|
| 9:00 | all workloads are made |
| 9:01 | templates change, rollouts are paused, objects are deleted, gpu-06 fails |
| 9:07 | gpu-07 fails |
| 9:08 | the clock stands |
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import orjson
from why_situations import (
    KINDS,
    SHORT,
    TAINT,
    TEMPLATES,
    Template,
    write_object,
    write_role,
    write_spec,
)

from kohort.apis.inferenceservice.kinds import BASE_MODEL, SERVING_RUNTIME
from kohort.apis.rolebasedgroup import labels
from kohort.cluster.http import HttpCluster
from kohort.cluster.kinds import NODE, POD, STATEFUL_SET
from kohort.cluster.objects import Kind, Object, name_of
from kohort.cluster.port import Address, Selection

QUOTA = Kind("", "v1", "ResourceQuota", "resourcequotas")
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
TIGHT = "tight"  # a namespace in which no pod may be made
FINALIZER = "example.com/hold"
ROLLED = ("lws", "ms", "rbg")  # those that `kohort rollout` pauses
WELL = TEMPLATES["well"]
NEXT = Template(container={"image": "engine:2", "args": ["--new"]})


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload, and what it is changed to at 9:01."""

    kind: str
    spec: Object
    then: Object | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def _list_rollouts() -> dict[str, Workload]:
    found = {}
    for kind, way in product(SHORT, ("crash", "pull", "slow", "selector")):
        before = write_spec(kind, WELL, 2)
        # Arguments that differ, since a change of annotations alone restarts nothing everywhere.
        odd = TEMPLATES[way]
        changed = replace(odd, container={**odd.container, "args": ["--new"]})
        then = write_spec(kind, changed, 2)
        found[f"{kind}-roll-{way}"] = Workload(kind, before, then)
    for kind in ROLLED:
        found[f"{kind}-partition"] = Workload(
            kind, write_spec(kind, WELL, 2, partition=1), write_spec(kind, NEXT, 2, partition=1)
        )
        found[f"{kind}-paused"] = Workload(kind, write_spec(kind, WELL, 2))
    return found


def _list_pairs() -> dict[str, Workload]:
    wide = {"rolloutStrategy": {"rollingUpdate": {"maxUnavailable": 4}}}
    waiting = write_role("router", WELL, dependencies=["engine"])
    before = [write_role(name, WELL, 4, **wide) for name in ("prefill", "decode")]
    broken = replace(TEMPLATES["pull"], container={"args": ["--new"]})
    then = [write_role("prefill", NEXT, 4, **wide), write_role("decode", broken, 4, **wide)]
    slow = write_role("engine", TEMPLATES["slow"])
    return {
        "rbg-role": Workload("rbg", {"roles": [slow, waiting]}),
        "rbg-skew": Workload("rbg", {"roles": before}, {"roles": then}),
    }


def list_workloads() -> dict[str, Workload]:
    """All workloads in the namespace default by name."""
    found = {
        f"{kind}-{way}": Workload(kind, write_spec(kind, template))
        for kind, (way, template) in product(SHORT, TEMPLATES.items())
    }
    # Its Deployment has made another pod, and chance says which of the two is named first.
    del found["isvc-lost"]
    found |= _list_rollouts() | _list_pairs()
    for kind in SHORT:
        held = {"finalizers": [FINALIZER]}
        found[f"{kind}-held"] = Workload(kind, write_spec(kind, WELL), None, held)
        if kind != "isvc":  # whose Deployment makes another pod at once
            found[f"{kind}-ending"] = Workload(kind, write_spec(kind, WELL))
    engine = {"engine": {"minReplicas": 1}}
    for way, model, runtime in (("model", "gone", "stays"), ("runtime", "stays", "gone")):
        named = {"model": {"name": model, "kind": "BaseModel"}, "runtime": {"name": runtime}}
        found[f"isvc-{way}"] = Workload("isvc", {**named, **engine})
    found["lws-taken"] = Workload("lws", write_spec("lws", WELL))
    return found


async def _stock(door: HttpCluster) -> None:
    """Models and runtimes: one of each stays, and one is gone at 9:01."""
    form = {"modelFormat": {"name": "safetensors"}, "modelFramework": {"name": "transformers"}}
    model = {**form, "storage": {"storageUri": "hf://meta/llama", "path": "/mnt/llama"}}
    runner = {"name": "ome-container", "image": "engine:1"}
    # The architecture that the agent of the embedded cluster finds in a model.
    takes = {**form, "modelArchitecture": "LlamaForCausalLM"}
    runtime = {"supportedModelFormats": [takes], "engineConfig": {"runner": runner}}
    for kind, spec in ((BASE_MODEL, model), (SERVING_RUNTIME, runtime)):
        for name in ("stays", "gone"):
            head = {"apiVersion": kind.api_version, "kind": kind.name}
            body = {**head, "metadata": {"name": name}, "spec": spec}
            await door.create(kind, "default", body)


async def make_all(door: HttpCluster) -> None:
    """9:00."""
    for node in ("gpu-06", "gpu-07"):
        await door.patch(Address(NODE, "", node), {"spec": {"taints": [TAINT]}})
    await _stock(door)
    pod = {**WELL.pod, "metadata": {"labels": {"app": "other"}}}
    selector = {"matchLabels": {"app": "other"}}
    other = {"serviceName": "x", "replicas": 0, "selector": selector, "template": pod}
    await door.create(STATEFUL_SET, "default", {"metadata": {"name": "lws-taken"}, "spec": other})
    await door.create(NAMESPACE, "", {"metadata": {"name": TIGHT}})
    none = {"metadata": {"name": "no-pods"}, "spec": {"hard": {"pods": "0"}}}
    await door.create(QUOTA, TIGHT, none)
    rule = {"name": "pd", "roles": ["prefill", "decode"]}
    skew = {"policies": [{**rule, "strategy": {"rollingUpdate": {"maxSkew": "25%"}}}]}
    head = {"apiVersion": labels.POLICY.api_version, "kind": labels.POLICY.name}
    policy = {**head, "metadata": {"name": "rbg-skew"}, "spec": skew}
    await door.create(labels.POLICY, "default", policy)
    for name, found in list_workloads().items():
        body = write_object(found.kind, name, found.spec, **dict(found.metadata))
        await door.create(KINDS[found.kind], "default", body)
    for kind in SHORT:
        body = write_object(kind, f"{kind}-quota", write_spec(kind, WELL))
        await door.create(KINDS[kind], TIGHT, body)


async def change_all(door: HttpCluster) -> None:
    """9:01."""
    for kind in (BASE_MODEL, SERVING_RUNTIME):
        await door.delete(Address(kind, "default", "gone"))
    for name, found in list_workloads().items():
        address = Address(KINDS[found.kind], "default", name)
        if found.then is not None:
            await door.patch(address, {"spec": found.then})
        elif name.endswith("-held"):
            await door.delete(address)
    for short in ROLLED:
        address = Address(KINDS[short], "default", f"{short}-paused")
        # A list is replaced as a whole, and the roles with it, which are paused one by one.
        held = {"paused": True} if short == "rbg" else {}
        change = write_spec(short, NEXT, 2, **held)
        change.pop("rolloutStrategy", None)
        await door.patch(address, {"spec": change})
    listing = await door.list(Selection(POD, "default"))
    for pod in map(orjson.loads, listing.items):
        if name_of(pod).startswith(tuple(f"{kind}-ending-" for kind in SHORT)):
            address = Address(POD, "default", name_of(pod))
            await door.patch(address, {"metadata": {"finalizers": [FINALIZER]}})
            await door.delete(address)
