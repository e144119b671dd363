"""A worker that does not say whether it is in a gang: admission asks the cluster for its leader."""

from base64 import b64decode
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import aiohttp
import orjson
from certificate_world import trust

from kohort.apis.api import Settings
from kohort.apis.gangs.dialects.volcano import GROUP_NAME, VOLCANO
from kohort.apis.leaderworkerset import labels
from kohort.apis.served import APIS
from kohort.apiserver.patches.json_patch import apply_json_patch
from kohort.cluster.errors import Unavailable
from kohort.cluster.objects import Object, annotations_of
from kohort.cluster.port import Address
from kohort.controller.admission.server import AdmissionServer
from kohort.controller.certificates.issue import renew_material
from kohort.controller.certificates.live import LiveContext

PATH = "/mutate--v1-pod"
MARKS = {labels.NAME: "x", labels.GROUP_INDEX: "0", labels.REVISION: "key"}


def make_pod(name: str, **notes: str) -> Object:
    """A pod as an upstream-made set sends it: nothing of ours is on it."""
    metadata = {"name": name, "namespace": "lab", "labels": dict(MARKS)}
    metadata["annotations"] = {labels.SIZE: "2", **notes}
    head = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    return {**head, "spec": {"containers": [{"name": "c", "image": "i"}]}}


WORKER = make_pod("x-0-1", **{labels.LEADER_NAME: "x-0"})


async def ask(read: Callable[[Address], Coroutine[Any, Any, list[Object]]]) -> dict[str, Any]:
    """The answer to the creation of a worker, over the wire, where the usual gang is Volcano's."""
    material = renew_material(None, ["127.0.0.1"], datetime.now(UTC))
    live = LiveContext()
    live.show(material.certificate, material.key)
    server = AdmissionServer(APIS, Settings(gangs=(VOLCANO,)), read=read)
    await server.start(live.context, "127.0.0.1")
    question = {"uid": "u1", "operation": "CREATE", "namespace": "lab", "object": WORKER}
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": question}
    url, context = f"https://127.0.0.1:{server.port}{PATH}", trust(material.ca)
    try:
        session = aiohttp.ClientSession()
        async with session, session.post(url, ssl=context, json=body) as response:
            answer: dict[str, Any] = (await response.json())["response"]
            return answer
    finally:
        await server.stop()


def gang_of(answer: dict[str, Any]) -> str | None:
    """The gang that the worker is in after the answer."""
    patched = apply_json_patch(WORKER, orjson.loads(b64decode(answer["patch"])))
    found: str | None = annotations_of(patched).get(GROUP_NAME)
    return found


async def test_a_worker_stays_out_of_a_gang_that_its_leader_is_not_in():
    asked: list[tuple[str, str]] = []

    async def read(address: Address) -> list[Object]:
        asked.append((address.namespace, address.name))
        return [make_pod("x-0")]

    assert gang_of(await ask(read)) is None
    assert asked == [("lab", "x-0")]


async def test_a_worker_of_an_upstream_made_set_joins_the_gang_of_its_leader():
    async def read(address: Address) -> list[Object]:
        return [make_pod("x-0", **{GROUP_NAME: "x-0-key"})]

    assert gang_of(await ask(read)) == "x-0-key"


async def test_a_worker_whose_leader_is_gone_joins_as_upstream_would_have_it():
    async def read(address: Address) -> list[Object]:
        return []

    assert gang_of(await ask(read)) == "x-0-key"


async def test_a_worker_is_refused_for_now_if_its_leader_cannot_be_read():
    async def read(address: Address) -> list[Object]:
        raise Unavailable("the server is starting")

    answer = await ask(read)
    assert answer["allowed"] is False
    assert "the server is starting" in answer["status"]["message"]
