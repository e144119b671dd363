"""A laboratory with InferenceServices in it, and short words for their objects."""

from copy import deepcopy
from typing import Any

from operator_lab import Lab

from kohort.apis.api import DEFAULTS, Settings
from kohort.apis.inferenceservice import kinds, labels
from kohort.apis.inferenceservice.accelerator_class import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.api import INFERENCE_SERVICE
from kohort.apis.inferenceservice.base_model import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.apis.rolebasedgroup.api import ROLE_BASED_GROUP
from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds as builtin
from kohort.cluster.objects import Object, find_condition, labels_of, name_of
from kohort.cluster.port import PatchType

KIND = INFERENCE_SERVICE.kind
API = KIND.api_version
RUNNER = {
    "name": "ome-container",
    "image": "engine:1",
    "args": ["--model-path=$(MODEL_PATH)"],
    "ports": [{"containerPort": 8080}],
}


def model(name: str = "llama", **spec: Any) -> Object:
    facts = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.43.0"},
        "modelArchitecture": "LlamaForCausalLM",
        "modelParameterSize": "8B",
        "storage": {"storageUri": "hf://meta/llama", "path": "/mnt/models/llama"},
        **spec,
    }
    metadata = {"name": name}
    return {"apiVersion": API, "kind": "ClusterBaseModel", "metadata": metadata, "spec": facts}


def runtime(name: str = "srt", image: str = "engine:1", **spec: Any) -> Object:
    runner = {**RUNNER, "image": image}
    takes = {
        "modelFormat": {"name": "safetensors", "version": "1.0.0"},
        "modelFramework": {"name": "transformers", "version": "4.43.0"},
        "modelArchitecture": "LlamaForCausalLM",
        "autoSelect": True,
        "priority": 1,
    }
    found = {
        "supportedModelFormats": [takes],
        "engineConfig": {"runner": runner},
        "decoderConfig": {"runner": runner},
        "routerConfig": {"runner": {**RUNNER, "name": "router", "image": "router:1"}},
        **spec,
    }
    metadata = {"name": name}
    return {"apiVersion": API, "kind": "ClusterServingRuntime", "metadata": metadata, "spec": found}


def service(*components: str, mode: str = "", **annotations: str) -> Object:
    notes = {labels.DEPLOYMENT_MODE: mode, **annotations} if mode else annotations
    parts = {name: {"minReplicas": 1} for name in components or ("engine",)}
    return {
        "apiVersion": API,
        "kind": KIND.name,
        "metadata": {"name": "chat", "annotations": notes},
        "spec": {"model": {"name": "llama"}, **deepcopy(parts)},
    }


RBG = "RoleBasedGroup"


class ServiceLab(Lab):
    """A cluster with InferenceServices, and with what may carry them."""

    def __init__(self, settings: Settings = DEFAULTS, **more: Any) -> None:
        own = (INFERENCE_SERVICE, BASE_MODEL, CLUSTER_BASE_MODEL, ACCELERATOR_CLASS)
        apis = (*own, ROLE_BASED_GROUP, LEADER_WORKER_SET)
        super().__init__(settings, apis=more.pop("apis", apis), **more)

    async def stock(self, *objects: Object) -> None:
        """What services name; nodes fetch the model by themselves."""
        for obj in objects or (model(), runtime()):
            await self.apply(obj)

    async def cordon(self) -> None:
        """No pod finds a node from now on."""
        for node in self.all(builtin.NODE):
            target = self.api.target(builtin.NODE, "", name_of(node))
            body = {"spec": {"unschedulable": True}}
            await self.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions())

    def service(self, name: str = "chat") -> Object:
        found = self.find(KIND, name)
        assert found is not None
        return found

    def condition(self, name: str = "Ready") -> Object:
        return find_condition(self.service(), name) or {}

    def is_ready(self) -> bool:
        status, obj = self.service().get("status") or {}, self.service()
        is_seen = status.get("observedGeneration") == obj["metadata"]["generation"]
        return is_seen and self.condition().get("status") == "True"

    def pods(self, component: str = "") -> dict[str, Object]:
        return {
            name_of(pod): pod
            for pod in self.all(builtin.POD)
            if not component or labels_of(pod).get(labels.COMPONENT) == component
        }

    def uids(self) -> dict[str, str]:
        return {name: pod["metadata"]["uid"] for name, pod in self.pods().items()}

    async def set_field(self, path: str, value: Any) -> None:
        await self.edit("chat", {"op": "add", "path": path, "value": value}, kind=KIND)

    async def annotate(self, key: str, value: str | None) -> None:
        target = self.api.target(KIND, self.namespace, "chat")
        body = {"metadata": {"annotations": {key: value}}}
        await self.api.patch(target, PatchBody(PatchType.MERGE, body), WriteOptions(manager="user"))


async def start(lab: ServiceLab, obj: Object | None = None) -> None:
    """Make a service, and let it become ready."""
    await lab.stock()
    await lab.apply(obj or service())
    await lab.until(lab.is_ready, 120)
    await lab.run(5)


__all__ = ["KIND", "RBG", "ServiceLab", "kinds", "model", "runtime", "service", "start"]
