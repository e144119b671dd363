"""An API with a kind in two versions, and a conversion webhook that a test can hold or break."""

import asyncio
from typing import Any

import orjson
from admission_world import World

from kohort.apiserver.admission.caller import Unreachable
from kohort.apiserver.admission.conversions import Conversions
from kohort.apiserver.api.reads.watches import Watch
from kohort.apiserver.api.requests import ListOptions
from kohort.cluster import kinds
from kohort.cluster.objects import Kind, Object

GROUP = "lab.example.com"
V1 = Kind(GROUP, "v1", "Gadget", "gadgets")
V2 = Kind(GROUP, "v2", "Gadget", "gadgets")


class ConvertingHook:
    """A Gadget has a size in v1 and a width in v2."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []  # (name, version)
        self.fails = False
        self.stumbles_over: set[str] = set()  # names
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        review = orjson.loads(body)
        request = review["request"]
        [obj], wanted = request["objects"], request["desiredAPIVersion"]
        self.asked.append((obj["metadata"]["name"], wanted.rpartition("/")[2]))
        await self.gate.wait()
        if self.fails or obj["metadata"]["name"] in self.stumbles_over:
            raise Unreachable("connect: connection refused")
        spec = obj.get("spec") or {}
        given, made = ("size", "width") if wanted.endswith("v2") else ("width", "size")
        spec = {made if key == given else key: value for key, value in spec.items()}
        response = {
            "uid": request["uid"],
            "result": {"status": "Success"},
            "convertedObjects": [{**obj, "apiVersion": wanted, "spec": spec}],
        }
        return orjson.dumps({**review, "response": response})


class ConversionWorld(World):
    """One API that asks a conversion webhook."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.hook = ConvertingHook()
        self.conversions = Conversions(self.api.context.new_uid, caller=self.hook)
        self.api.context.ask_webhook = self.conversions.ask

    async def read(self, kind: Kind, name: str) -> Object:
        answer = await self.api.fetch(self.api.target(kind, "lab", name))
        return orjson.loads(answer.raw)

    async def list(self, kind: Kind) -> list[Object]:
        page = await self.api.fetch_page(self.api.target(kind, "lab"), ListOptions())
        return [orjson.loads(item) for item in page.items]

    def watch(self, kind: Kind) -> Watch:
        target = self.api.target(kind, "lab")
        return self.api.watch(target, ListOptions(), initial=True, bookmarks=False)


def gadget(name: str = "a", **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": spec}


def gadgets(strategy: str = "Webhook", storage: str = "v2") -> Object:
    client = {"url": "https://127.0.0.1:1/convert"}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    fields = {"v1": ("size", "tint"), "v2": ("width", "tint")}
    return {
        "metadata": {"name": f"gadgets.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "conversion": {
                "strategy": strategy,
                **({"webhook": webhook} if strategy == "Webhook" else {}),
            },
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == storage,
                    "schema": {"openAPIV3Schema": _schema(fields[name])},
                }
                for name in ("v1", "v2")
            ],
        },
    }


def _schema(fields: tuple[str, ...]) -> Object:
    anything = {"x-kubernetes-preserve-unknown-fields": True}
    spec = {"type": "object", "properties": dict.fromkeys(fields, anything)}
    return {"type": "object", "properties": {"spec": spec}}


async def start_world(crd: Object | None = None, **options: Any) -> ConversionWorld:
    """A world that serves gadgets."""
    world = ConversionWorld(**options)
    await world.start()
    await world.create(crd or gadgets(), kinds.DEFINITION)
    return world


async def turn() -> None:
    """Let every task that can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


def told(events: list[Any]) -> list[tuple[str, str, Any]]:
    """What a watcher gets: what happened, to which object, and its spec."""
    objects = [(event.type, orjson.loads(event.raw)) for event in events]
    return [(kind, obj["metadata"].get("name", ""), obj.get("spec")) for kind, obj in objects]
