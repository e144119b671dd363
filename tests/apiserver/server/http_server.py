"""A server on loopback, seen through a client that knows its token."""

from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random
from typing import Any

import aiohttp
import orjson
from yarl import URL

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.server.app import TokenAuth, create_app
from kohort.apiserver.server.serve import Server, serve
from kohort.apiserver.store.store import Store
from kohort.cluster.kinds import NAMESPACE
from kohort.cluster.objects import Object

TOKEN = "a-token"
AGENT = "tests/1.0"


@dataclass
class Reply:
    """What came back."""

    code: int
    headers: Any
    raw: bytes

    @property
    def body(self) -> Object:
        found: Object = orjson.loads(self.raw)
        return found


class HttpServer:
    """One running server, seen from outside."""

    def __init__(self, api: ApiServer, server: Server, session: aiohttp.ClientSession) -> None:
        self.api = api
        self.server = server
        self.session = session

    def url(self, path: str) -> URL:
        return URL(f"http://127.0.0.1:{self.server.port}{path}", encoded=True)

    async def ask(
        self, method: str, path: str, body: Object | str | None = None, **headers: str
    ) -> Reply:
        data = orjson.dumps(body) if isinstance(body, dict | list) else body
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        if isinstance(body, dict | list):
            names.setdefault("Content-Type", "application/json")
        async with self.session.request(
            method, self.url(path), data=data, headers=names, allow_redirects=False
        ) as response:
            return Reply(response.status, response.headers, await response.read())


def make_api() -> ApiServer:
    registry = Registry(builtin_resources())
    return ApiServer(Store(), registry, lambda: datetime.now(UTC), Random(1))


async def start_http_server(api: ApiServer, **options: Any) -> HttpServer:
    namespace = {"metadata": {"name": "default"}}
    await api.create(api.target(NAMESPACE), namespace, WriteOptions())
    server = await serve(create_app(api, TokenAuth(TOKEN), **options), None)
    headers = {"Authorization": f"Bearer {TOKEN}", "User-Agent": AGENT}
    session = aiohttp.ClientSession(headers=headers, auto_decompress=False)
    return HttpServer(api, server, session)
