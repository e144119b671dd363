"""Conversion over HTTPS: whatever is asked, the answer is a review with a sentence."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
from certificate_world import trust

from gadget_api import GADGETS, GROUP, make_gadget
from kohort.apis.api import DEFAULTS, Api
from kohort.apis.leaderworkerset.api import LEADER_WORKER_SET
from kohort.controller.admission.server import AdmissionServer
from kohort.controller.certificates.issue import renew_material
from kohort.controller.certificates.live import LiveContext


def review(*objects: Any, wanted: Any = f"{GROUP}/v1") -> dict:
    request = {"uid": "u1", "desiredAPIVersion": wanted, "objects": list(objects)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": request,
    }


class Asking:
    """A server, and a client that asks it."""

    def __init__(self, port: int, tls: ssl.SSLContext) -> None:
        self.codes: list[int] = []
        self._url, self._tls = f"https://127.0.0.1:{port}/convert", tls

    async def __call__(self, body: Any) -> dict:
        async with aiohttp.ClientSession() as session:
            form = {"data": body} if isinstance(body, bytes) else {"json": body}
            headers = {"Content-Type": "application/json"}
            async with session.post(self._url, ssl=self._tls, headers=headers, **form) as answer:
                self.codes.append(answer.status)
                said = await answer.json(content_type=None)
        return said["response"]


async def serve(*apis: Api) -> tuple[AdmissionServer, Asking]:
    material = renew_material(None, ["127.0.0.1"], datetime.now(UTC))
    live = LiveContext()
    live.show(material.certificate, material.key)
    server = AdmissionServer(apis, DEFAULTS)
    await server.start(live.context, "127.0.0.1")
    return server, Asking(server.port, trust(material.ca))


@pytest.fixture
async def ask() -> AsyncIterator[Asking]:
    server, asking = await serve(LEADER_WORKER_SET, GADGETS)
    yield asking
    await server.stop()


async def test_objects_are_converted_in_their_order(ask):
    objects = [make_gadget(n, dimensions={"size": s}) for n, s in (("a", 1), ("b", 2))]
    answer = await ask(review(*objects))
    assert (answer["uid"], answer["result"]["status"]) == ("u1", "Success")
    told = [(o["metadata"]["name"], o["spec"]["size"]) for o in answer["convertedObjects"]]
    assert told == [("a", 1), ("b", 2)]


async def test_one_object_that_cannot_be_converted_fails_the_review_with_its_name(ask):
    answer = await ask(review(make_gadget("a"), make_gadget("b", tint="blue")))
    assert answer["convertedObjects"] == []
    assert answer["result"]["status"] == "Failure"
    assert answer["result"]["message"].startswith("Gadget b has no form in v1")


async def test_a_mistake_of_ours_is_a_failed_review_and_is_logged_once(ask, caplog):
    for _ in range(3):
        answer = await ask(review(make_gadget(tint="void")))
        assert "a mistake of Kohort (KeyError)" in answer["result"]["message"]
    assert caplog.text.count("cannot judge an object") == 1


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"",
        b"[]",
        [1],
        {},
        {"request": 1},
        {**review(), "apiVersion": "apiextensions.k8s.io/v1beta1"},
        review(wanted=None),
        review("gadget"),
        {**review(), "request": {"objects": {}, "desiredAPIVersion": "a/v1"}},
    ],
)
async def test_a_question_that_cannot_be_understood_is_a_failed_review_never_a_500(ask, body):
    answer = await ask(body)
    assert answer["result"]["status"] == "Failure"
    assert answer["result"]["message"]
    assert ask.codes == [200]


async def test_without_kinds_of_several_versions_there_is_no_conversion():
    server, asking = await serve(LEADER_WORKER_SET)
    with pytest.raises(aiohttp.ClientError):
        await asyncio.wait_for(_ask_strictly(asking), 20)
    await server.stop()


async def _ask_strictly(asking: Asking) -> None:
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        await session.post(asking._url, ssl=asking._tls, json=review())
