"""An API without sockets, and the few words that its tests speak."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import orjson

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import DeleteOptions, ListOptions, PatchBody, WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.store.store import Store
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object
from kohort.cluster.port import PatchType

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Bench:
    """One API, and shorthand for its verbs on one kind at a time."""

    def __init__(self, seed: int = 1) -> None:
        self.now = NOW
        registry = Registry(builtin_resources())
        self.api = ApiServer(Store(), registry, lambda: self.now, Random(seed))

    async def start(self) -> "Bench":
        await self.create(kinds.NAMESPACE, {"metadata": {"name": "lab"}}, namespace="")
        return self

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    async def create(self, kind: Kind, body: Object, namespace: str = "lab", **options: Any):
        target = self.api.target(kind, namespace if kind.namespaced else "")
        answer = await self.api.create(target, body, WriteOptions(**options))
        return orjson.loads(answer.raw)

    async def update(self, kind: Kind, body: Object, part: str = "", **options: Any):
        target = self.target(kind, body["metadata"]["name"], part)
        answer = await self.api.update(target, body, WriteOptions(**options))
        return orjson.loads(answer.raw)

    async def merge(self, kind: Kind, name: str, patch: Any, part: str = "", **options: Any):
        return await self.patch(kind, name, PatchType.MERGE, patch, part, **options)

    async def patch(self, kind: Kind, name: str, form: PatchType, patch: Any, part="", **options):
        target = self.target(kind, name, part)
        answer = await self.api.patch(target, PatchBody(form, patch), WriteOptions(**options))
        return orjson.loads(answer.raw)

    async def delete(self, kind: Kind, name: str, **options: Any):
        answer = await self.api.delete(self.target(kind, name), DeleteOptions(**options))
        return orjson.loads(answer.raw)

    def read(self, kind: Kind, name: str, part: str = ""):
        return orjson.loads(self.api.read(self.target(kind, name, part)).raw)

    def list(self, kind: Kind, **options: Any):
        namespace = "lab" if kind.namespaced else ""
        page = self.api.list(self.api.target(kind, namespace), ListOptions(**options))
        return page, [orjson.loads(item) for item in page.items]

    def target(self, kind: Kind, name: str, part: str = ""):
        return self.api.target(kind, "lab" if kind.namespaced else "", name, part)


def config_map(name: str = "a", **data: str) -> Object:
    return {"metadata": {"name": name}, "data": data}


def pod(name: str = "p", **spec: Any) -> Object:
    containers = [{"name": "c", "image": "engine:1"}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}
