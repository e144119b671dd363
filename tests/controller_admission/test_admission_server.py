"""The admission server on real sockets, with certificates that change while it answers."""

import asyncio
import ssl
from base64 import b64decode
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import aiohttp
import orjson
import pytest
from certificate_world import (
    PLACES,
    SetTime,
    add_configurations,
    make_cluster,
    read_bundles,
    trust,
    until,
)

from kohort.apis.api import DEFAULTS
from kohort.apis.served import APIS
from kohort.controller.admission.server import BODY_BYTES_MAX, AdmissionServer
from kohort.controller.certificates.issue import Lifetimes, renew_material
from kohort.controller.certificates.keeper import Keeper
from kohort.controller.certificates.live import LiveContext

PATH = "/validate--v1-pod"
QUESTION = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {"uid": "u1", "object": {"metadata": {"name": "p"}}},
}
# Due after twenty minutes, so that half an hour is enough and clients still find them valid.
HOURLY = Lifetimes(
    *(timedelta(minutes=m) for m in (120, 100, 120, 100)), learning=timedelta(milliseconds=300)
)


@asynccontextmanager
async def serving(live):
    server = AdmissionServer(APIS, DEFAULTS)
    await server.start(live.context, "127.0.0.1")
    try:
        yield server, f"https://127.0.0.1:{server.port}"
    finally:
        await server.stop()


@pytest.fixture
def material():
    return renew_material(None, ["127.0.0.1"], datetime.now(UTC))


@pytest.fixture
async def place(material):
    live = LiveContext()
    live.show(material.certificate, material.key)
    async with serving(live) as (_, url):
        yield url, trust(material.ca)


async def post(url, context, **options):
    session = aiohttp.ClientSession()
    async with session, session.post(url, ssl=context, **options) as response:
        return response.status, await response.read()


async def test_a_question_is_answered_over_tls(place):
    url, context = place
    status, body = await post(url + PATH, context, json=QUESTION)
    answer = orjson.loads(body)
    assert status == 200
    assert answer["response"]["uid"] == "u1"
    assert answer["response"]["allowed"] is True


async def test_an_unknown_path_is_not_found(place):
    url, context = place
    assert (await post(url + "/elsewhere", context, json={}))[0] == 404


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"data": b"{}", "headers": {"Content-Type": "text/plain"}}, "expected application/json"),
        ({"data": b"", "headers": {"Content-Type": "application/json"}}, "body is empty"),
        ({"data": b"{", "headers": {"Content-Type": "application/json"}}, "is not JSON"),
        (
            {
                "data": b" " * (BODY_BYTES_MAX + 1),
                "headers": {"Content-Type": "application/json"},
            },
            "too large",
        ),
    ],
)
async def test_a_body_that_is_no_question_is_told_what_is_wrong(place, options, why):
    url, context = place
    status, body = await post(url + PATH, context, **options)
    assert status == 200
    assert why in body.decode()
    assert '"allowed":false' in body.decode()


async def test_a_caller_without_our_authority_does_not_get_through(place):
    url, _ = place
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        await post(url + PATH, ssl.create_default_context(), json=QUESTION)


class Callers:
    """API servers that keep asking, some on kept connections and some on new ones."""

    def __init__(self, url, read_trust):
        self._url = url
        self._read_trust = read_trust
        self.answers = 0
        self.failures = []
        self.is_ended = False

    async def ask_on_one_connection(self, context):
        async with aiohttp.ClientSession() as session:
            while not self.is_ended:
                await self._ask(session, context)

    async def ask_on_new_connections(self):
        while not self.is_ended:
            async with aiohttp.ClientSession() as session:
                await self._ask(session, await self._read_trust())

    async def _ask(self, session, context):
        try:
            async with session.post(self._url + PATH, json=QUESTION, ssl=context) as response:
                assert (await response.json())["response"]["allowed"]
                self.answers += 1
        except aiohttp.ClientError as error:
            self.failures.append(error)


@asynccontextmanager
async def keeping(cluster, live, time):
    keeper = Keeper(cluster, PLACES, live, time, lifetimes=HOURLY)
    task = asyncio.create_task(keeper.run())
    await keeper.is_settled.wait()
    yield keeper
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def calling(url, read_trust):
    callers = Callers(url, read_trust)
    kept = asyncio.create_task(callers.ask_on_one_connection(await read_trust()))
    fresh = asyncio.create_task(callers.ask_on_new_connections())
    await until(lambda: callers.answers > 20)
    yield callers
    callers.is_ended = True
    await asyncio.gather(kept, fresh)


@pytest.mark.slow
async def test_certificates_are_renewed_under_load_without_a_failed_question():
    cluster, time, live = make_cluster(), SetTime(), LiveContext()
    time.wall = datetime.now(UTC)
    await add_configurations(cluster)

    async def read_trust():
        return trust(b64decode((await read_bundles(cluster))[0]).decode())

    async with (
        keeping(cluster, live, time) as keeper,
        serving(live) as (_, url),
        calling(url, read_trust) as callers,
    ):
        authorities = {keeper.ca}
        for _ in range(2):
            time.wall += timedelta(minutes=25)
            keeper.wake()
            await keeper.is_settled.wait()
            authorities.add(keeper.ca)
            before = callers.answers
            await until(lambda before=before: callers.answers > before + 20)
    assert callers.failures == []
    assert len(authorities) == 3
