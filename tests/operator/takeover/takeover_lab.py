"""A laboratory that holds what another controller left, and a check of it that writes nothing."""

import copy
from collections.abc import Sequence

from operator_lab import Lab

from kohort.apis.api import DEFAULTS, Api, Settings
from kohort.apis.gangs.definitions import definitions_of
from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.api.writes.storage import selectable_fields
from kohort.apiserver.inprocess import InProcessCluster
from kohort.cluster import kinds
from kohort.cluster.objects import Object, name_of, uid_of
from kohort.takeover.check import check
from kohort.takeover.report import Report


class TakeoverLab(Lab):
    """A cluster without an operator, in which objects of another controller are stored."""

    def __init__(
        self, apis: Sequence[Api], settings: Settings = DEFAULTS, beside: Sequence[Api] = ()
    ) -> None:
        """A cluster that serves the APIs and those ``beside`` them, which no test checks."""
        super().__init__(settings, apis=(*apis, *beside))
        self._checked = apis

    async def open_with(self, objects: list[Object]) -> "TakeoverLab":
        """Store the objects as they are, uids and all; no part of the control plane acts."""
        await self.open(operator=False)
        self.apis = self._checked
        for definition in definitions_of("volcano"):
            await self.api.create(self.api.target(kinds.DEFINITION), definition, WriteOptions())
        for runner in self.world.runners:
            self.hold_component(runner)
        self.namespace = objects[0]["metadata"].get("namespace", "default")
        if self.namespace != "default":
            await self.apply(
                {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
            )
        await self._add_nodes(objects)
        self.load(objects)
        self.reads = InProcessCluster(self.api, bookmark_seconds=None)
        return self

    def load(self, objects: list[Object]) -> None:
        """Store objects as they are."""
        for obj in copy.deepcopy(objects):
            resource = self.api.registry.of(self._find_kind(obj))
            key = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            fields = selectable_fields(resource, obj)
            typed = {"kind": obj.pop("kind"), "apiVersion": obj.pop("apiVersion"), **obj}
            self.api.store.put(resource.bucket, key, typed, fields)

    async def _add_nodes(self, objects: list[Object]) -> None:
        placed = (o["spec"].get("nodeName") for o in objects if o["kind"] == "Pod")
        like = self.all(kinds.NODE)[0]
        for name in sorted({name for name in placed if name}):
            labels = {**like["metadata"]["labels"], "kubernetes.io/hostname": name}
            labels["cloud.google.com/gke-nodepool"] = f"pool-{name}"
            if self.find(kinds.NODE, name) is None:
                await self.apply({**like, "metadata": {"name": name, "labels": labels}})

    async def check(self, namespace: str = "", settings: Settings | None = None) -> Report:
        """What our operator would do, which must not have written anything."""
        before = self.api.store.revision
        found = await check(self.reads, self.apis, settings or self.settings, self.time, namespace)
        assert self.api.store.revision == before
        return found

    def list_specs(self, kind: str) -> dict[str, Object]:
        """The specs of all objects of a kind, by name and uid."""
        found = next(r.kind for r in self.api.registry.resources() if r.kind.name == kind)
        return {f"{name_of(obj)} {uid_of(obj)}": obj["spec"] for obj in self.all(found)}

    def list_uids(self, kind: str) -> list[str]:
        """The names and uids of all objects of a kind."""
        found = next(r.kind for r in self.api.registry.resources() if r.kind.name == kind)
        return [f"{name_of(obj)} {uid_of(obj)}" for obj in self.all(found)]
