"""A small HTTP server whose answers a test writes down in advance."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import web

from kohort.cluster.errors import ClusterError
from kohort.cluster.http import HttpCluster
from kohort.cluster.http.access.access import Access
from kohort.cluster.http.access.credentials import Credentials, NoCredentials
from kohort.cluster.objects import Kind, Object

CONFIGMAP = Kind("", "v1", "ConfigMap", "configmaps")

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Script:
    """What to answer, in turn; the last answer stays."""

    answers: list[Handler]
    seen: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        self.bodies.append(await request.read())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await answer(request)


def reply(body: Object, code: int = 200, headers: dict[str, str] | None = None) -> Handler:
    async def handle(_: web.Request) -> web.StreamResponse:
        return web.Response(
            body=orjson.dumps(body), status=code, headers=headers, content_type="application/json"
        )

    return handle


def refuse(error: ClusterError, headers: dict[str, str] | None = None) -> Handler:
    return reply(error.status(), error.code, headers)


def hang_up() -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    return handle


def stream(*chunks: bytes) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
        return response

    return handle


@asynccontextmanager
async def serving(*answers: Handler) -> AsyncIterator[Script]:
    script = Script(list(answers))
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", script.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    script.url = f"http://127.0.0.1:{port}"
    try:
        yield script
    finally:
        await runner.cleanup()


@asynccontextmanager
async def client_of(
    script: Script, credentials: Credentials | None = None
) -> AsyncIterator[HttpCluster]:
    async with HttpCluster(Access(script.url, credentials or NoCredentials())) as cluster:
        yield cluster


@asynccontextmanager
async def talking(*answers: Handler) -> AsyncIterator[tuple[Script, HttpCluster]]:
    async with serving(*answers) as script, client_of(script) as cluster:
        yield script, cluster
