"""A laboratory with models, accelerators and simulated model agents in it."""

from typing import Any

import orjson
from operator_lab import Lab

from kohort.apis.api import DEFAULTS
from kohort.apis.inferenceservice import kinds as ome
from kohort.apis.inferenceservice.accelerator_class import ACCELERATOR_CLASS
from kohort.apis.inferenceservice.base_model import BASE_MODEL, CLUSTER_BASE_MODEL
from kohort.apiserver.api.requests import DeleteOptions, PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object, labels_of, name_of
from kohort.cluster.port import PatchType

API = "ome.io/v1beta1"
LABEL = "models.ome.io/clusterbasemodel.llama"
KEY = "clusterbasemodel.llama"
FACTS = "sim.kohort.dev/model-facts"
DOWNLOAD_FOR = "sim.kohort.dev/download-for"
DOWNLOAD_ERROR = "sim.kohort.dev/download-error"
FIRST_RACK = {"nodeSelector": {"topology.kohort.dev/rack": "rack-0"}}


def model(name: str = "llama", *, namespace: str = "", notes: Any = None, **spec: Any) -> Object:
    """A model of the cluster, or with a namespace one of that."""
    storage = {"storageUri": "hf://meta-llama/Llama-3.1-8B-Instruct", **spec.pop("storage", {})}
    metadata = {"name": name, "annotations": notes or {}}
    kind = "ClusterBaseModel"
    if namespace:
        metadata["namespace"], kind = namespace, "BaseModel"
    body = {"storage": storage, **spec}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": body}


def accelerator(name: str = "h100", **spec: Any) -> Object:
    body = {"discovery": {}, "capabilities": {}, **spec}
    return {
        "apiVersion": API,
        "kind": "AcceleratorClass",
        "metadata": {"name": name},
        "spec": body,
    }


class ModelLab(Lab):
    """A cluster with eight nodes in two racks, each with an agent."""

    def __init__(self) -> None:
        super().__init__(DEFAULTS, apis=(BASE_MODEL, CLUSTER_BASE_MODEL, ACCELERATOR_CLASS))

    def see(self, kind: Kind, name: str, namespace: str = "") -> Object:
        """An object as it is stored; an empty one where there is none."""
        found = self.api.context.find(self.api.target(kind, namespace, name))
        return found.decode() if found else {}

    def model(self, name: str = "llama") -> Object:
        return self.see(ome.CLUSTER_BASE_MODEL, name)

    def status(self, name: str = "llama") -> Object:
        found: Object = self.model(name).get("status") or {}
        return found

    def is_ready(self, name: str = "llama") -> bool:
        return self.status(name).get("state") == "Ready"

    def nodes_with(self, label: str = LABEL, state: str = "Ready") -> list[str]:
        nodes = [node for node in self.all(kinds.NODE) if labels_of(node).get(label) == state]
        return sorted(name_of(node) for node in nodes)

    def entry(self, node: str, key: str = KEY) -> Object:
        """What the agent of a node says of a model."""
        held = self.see(kinds.CONFIG_MAP, node, "ome").get("data") or {}
        found: Object = orjson.loads(held.get(key, "{}"))
        return found

    def events(self, reason: str) -> list[Object]:
        return [event for event in self.all(kinds.EVENT) if event["reason"] == reason]

    async def change(self, kind: Kind, name: str, patch: Object, namespace: str = "") -> None:
        target = self.api.target(kind, namespace, name)
        await self.api.patch(target, PatchBody(PatchType.MERGE, patch), WriteOptions())

    async def remove(self, kind: Kind, name: str, namespace: str = "") -> None:
        await self.api.delete(self.api.target(kind, namespace, name), DeleteOptions())

    async def annotate(self, kind: Kind, name: str, **notes: str | None) -> None:
        """Write annotations; the names lack their prefix."""
        told = {f"sim.kohort.dev/{key.replace('_', '-')}": text for key, text in notes.items()}
        await self.change(kind, name, {"metadata": {"annotations": told}})
