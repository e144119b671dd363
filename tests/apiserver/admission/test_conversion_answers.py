"""Whatever a conversion webhook answers, the server answers with a failure and goes on."""

from typing import Any

import orjson
import pytest
from admission_world import HookServer, server_context
from aiohttp import web
from conversion_world import GROUP, V1, V2, gadget, start_world

from kohort.apiserver.admission.caller import ANSWER_BYTES_MAX
from kohort.apiserver.admission.conversions import Conversions
from kohort.cluster import kinds
from kohort.cluster.errors import BareError, ClusterError
from kohort.cluster.objects import Object

KIND = f"conversion webhook for {GROUP}/v1, Kind=Gadget"


class Saying:
    """A caller that always gets the same answer; ``{uid}`` is that of the question."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    async def __call__(
        self, url: str, body: bytes, ca: bytes, server_name: str, timeout: float
    ) -> bytes:
        return self._text.replace(b"{uid}", orjson.loads(body)["request"]["uid"].encode())


def answering(*objects: Any, **changes: Any) -> bytes:
    response = {"uid": "{uid}", "result": {"status": "Success"}, "convertedObjects": list(objects)}
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    return orjson.dumps({**body, "response": {**response, **changes}})


def converted(**changes: Any) -> Object:
    return {"apiVersion": f"{GROUP}/v2", "kind": "Gadget", "metadata": {"name": "a"}, **changes}


DEEP = b'{"a":' * 5_000 + b"1" + b"}" * 5_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"certainly", "failed: couldn't get version/kind; json parse error: "),
        (b"5", "failed: couldn't get version/kind; json parse error: json: cannot unmarshal numb"),
        (DEEP, "failed: couldn't get version/kind; json parse error: exceeded max depth"),
        (b"{}", "failed: Object 'Kind' is missing in '{}'"),
        (b'{"kind":"ConversionReview"}', 'failed: no kind "ConversionReview" is registered'),
        (answering(result=[1]), "failed: response.result.status was '', not 'Success'"),
        (answering(result={"message": [1]}), "failed: [1]"),
        (answering(convertedObjects={"a": 1}), "returned 0 objects, expected 1"),
        (answering("x"), "returned invalid object at index 0"),
        (answering(None), "returned invalid object at index 0"),
        (answering({}), "returned invalid object at index 0: invalid groupVersion"),
        (answering(converted(metadata=[1])), "returned invalid object: must have the same name"),
        (answering(converted(metadata={"name": ["a"]})), "returned invalid object: must have the"),
    ],
    ids=lambda value: repr(value)[:50],
)
async def test_an_odd_answer_is_told(text: bytes, said: str):
    world = await start_world()
    world.api.context.ask_webhook = Conversions(lambda: "u", caller=Saying(text)).ask
    with pytest.raises(BareError) as caught:
        await world.create(gadget(size=1), V1)
    assert caught.value.message.startswith(f"{KIND} {said}")


async def test_labels_and_annotations_that_are_odd_are_told():
    world = await start_world()
    for odd in ({"labels": [1]}, {"annotations": {"a": 1}}, {"labels": {"a": "not one!"}}):
        made = {"name": "a", "namespace": "lab", "uid": "?", **odd}

        async def say(
            url: str,
            body: bytes,
            ca: bytes,
            server_name: str,
            timeout: float,
            made: Object = made,
        ) -> bytes:
            [obj] = orjson.loads(body)["request"]["objects"]
            metadata = {**made, "uid": obj["metadata"]["uid"]}
            return answering(converted(metadata=metadata)).replace(b"{uid}", b"u")

        world.api.context.ask_webhook = Conversions(lambda: "u", caller=say).ask
        with pytest.raises(ClusterError, match=f"{KIND} returned invalid metadata: "):
            await world.create(gadget(size=1), V1)


async def test_an_answer_without_end_is_cut_off():
    async def flood(request: Object, http: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(http)
        for _ in range(2 * (ANSWER_BYTES_MAX >> 20)):
            await response.write(b" " * (1 << 20))
        return response

    async with HookServer(server_context("127.0.0.1"), flood=flood) as server:
        world = await start_world()
        conversions = Conversions(world.api.context.new_uid)
        world.api.context.ask_webhook = conversions.ask
        webhook = {"spec": {"conversion": {"webhook": server.at("flood")}}}
        await world.merge(f"gadgets.{GROUP}", webhook, kinds.DEFINITION)
        await world.create(gadget(width=1), V2)
        with pytest.raises(BareError, match="failed: the answer is larger than 8 MiB"):
            await world.read(V1, "a")
        await conversions.close()
