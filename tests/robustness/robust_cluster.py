"""A whole embedded cluster on loopback, for requests that try to break it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from kohort.cluster.objects import Object
from kohort.simulator.embedded import Embedded, EmbeddedOptions

TOKEN = "a-token"
GROUP = "robust.example.com"
THINGS = f"/apis/{GROUP}/v1/namespaces/default/things"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
FREE: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Cluster:
    """One running cluster and a client of it."""

    def __init__(self, embedded: Embedded, session: aiohttp.ClientSession) -> None:
        self.embedded = embedded
        self.session = session

    async def ask(
        self, method: str, path: str, body: object = None, *, media: str = "application/json"
    ) -> tuple[int, Any]:
        """The code and the decoded answer of one request."""
        data = body if isinstance(body, bytes) else None if body is None else orjson.dumps(body)
        url = f"http://127.0.0.1:{self.embedded.port}{path}"
        headers = {"Content-Type": media}
        async with self.session.request(method, url, data=data, headers=headers) as response:
            raw = await response.read()
            is_json = raw[:1] in (b"{", b"[")
            return response.status, orjson.loads(raw) if is_json else raw.decode()

    async def patch(self, path: str, body: object, form: str = "merge") -> tuple[int, Any]:
        """The same for a patch, by the name of its form."""
        query = "?fieldManager=tests" if form == "apply" and "?" not in path else ""
        return await self.ask("PATCH", path + query, body, media=PATCHES[form])

    async def define(self, schema: Object, **version: Any) -> None:
        """Let the kind Thing be served, with this schema."""
        code, answer = await self.ask("POST", CRDS, definition(schema, **version))
        assert code == 201, answer
        while (await self.ask("GET", THINGS))[0] != 200:
            await asyncio.sleep(0)

    @property
    def is_alive(self) -> bool:
        """Whether the parts of the control plane still work."""
        return not self.embedded._running.done()


def definition(schema: Object, **version: Any) -> Object:
    """A definition of the kind Thing."""
    served = {"name": "v1", "served": True, "storage": True}
    served |= {"schema": {"openAPIV3Schema": schema}, **version}
    names = {"plural": "things", "singular": "thing", "kind": "Thing"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [served]},
    }


def thing(name: str, **rest: object) -> Object:
    """One object of that kind."""
    return {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": name}, **rest}


def config_map(name: str, **rest: object) -> Object:
    """One ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **rest}


@asynccontextmanager
async def start_cluster(data_dir: Path | None = None, nodes: int = 1) -> AsyncIterator[Cluster]:
    """A cluster for as long as the block lasts."""
    embedded = await Embedded.start(EmbeddedOptions(token=TOKEN, nodes=nodes, data_dir=data_dir))
    headers = {"Authorization": f"Bearer {TOKEN}", "User-Agent": "tests/1.0"}
    try:
        async with aiohttp.ClientSession(headers=headers) as session:
            yield Cluster(embedded, session)
    finally:
        await embedded.stop()
