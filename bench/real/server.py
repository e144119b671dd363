"""
Server: a bare client of an API server, as administrator, that adds as little as it can.

It has no rate limit and decodes nothing that is not asked for, so that what it
measures is the server and not itself.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import orjson

AT_ONCE = 64
_MERGE, _STEPS = "application/merge-patch+json", "application/json-patch+json"
_JSON = "application/json"


class Refused(Exception):
    """The server did not do what it was asked."""


class Version(msgspec.Struct):
    """The version of an object."""

    resource_version: str = msgspec.field(name="resourceVersion", default="")


class Anything(msgspec.Struct):
    """An object of which only the version is wanted."""

    metadata: Version


class Line(msgspec.Struct):
    """One line of a watch."""

    type: str
    object: msgspec.Raw


_line = msgspec.json.Decoder(Line)
_anything = msgspec.json.Decoder(Anything)


class Server:
    """One API server."""

    def __init__(self, session: aiohttp.ClientSession, base: str) -> None:
        self._session = session
        self._base = base

    async def ask(self, method: str, path: str, body: Any = None, query: str = "") -> bytes:
        """The body of a successful answer."""
        data = None if body is None else orjson.dumps(body)
        patch = _STEPS if isinstance(body, list) else _MERGE
        media = {"Content-Type": patch if method == "PATCH" else _JSON}
        url = f"{self._base}{path}?{query}" if query else self._base + path
        async with self._session.request(method, url, data=data, headers=media) as answer:
            text = await answer.read()
            if answer.status >= 300:
                said = text[:300].decode(errors="replace")
                raise Refused(f"{method} {path}: {answer.status} {said}")
            return text

    async def read(self, path: str) -> Any:
        """One decoded object or list."""
        return orjson.loads(await self.ask("GET", path))

    async def watch(self, path: str, query: str) -> AsyncIterator[tuple[str, bytes]]:
        """
        What is there, then what changes, for ever.

        The server ends the watch of a reader that lags; it goes on from the last
        version seen, so that nothing is missed.
        """
        version = ""
        while True:
            more = f"&resourceVersion={version}" if version else "&sendInitialEvents=true"
            more += "" if version else "&resourceVersionMatch=NotOlderThan"
            whole = f"{path}?{query}&watch=1&allowWatchBookmarks=true&timeoutSeconds=3600{more}"
            async with self._session.get(self._base + whole) as answer:
                if answer.status != 200:
                    raise Refused(f"{path}: {answer.status} {(await answer.text())[:300]}")
                async for text in _lines(answer.content):
                    line = _line.decode(text)
                    if line.type == "ERROR":
                        raise Refused(f"{path}: {bytes(line.object).decode()[:300]}")
                    version = _anything.decode(line.object).metadata.resource_version
                    if line.type != "BOOKMARK":
                        yield line.type, bytes(line.object)


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    begun = b""
    try:
        async for chunk in content.iter_any():
            begun += chunk
            if b"\n" in chunk:
                *whole, begun = begun.split(b"\n")
                for line in whole:
                    yield line
    except aiohttp.ClientPayloadError:
        return


@asynccontextmanager
async def reach(kubeconfig: Path) -> AsyncIterator[Server]:
    """The server that a kubeconfig in JSON names, until the block ends."""
    config = json.loads(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cafile=cluster["certificate-authority"])
    context.load_cert_chain(user["client-certificate"], user["client-key"])
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=context, limit=AT_ONCE + 8),
        timeout=aiohttp.ClientTimeout(total=None),
        read_bufsize=2**22,
    ) as session:
        yield Server(session, cluster["server"])


async def at_once(calls: list[Any]) -> None:
    """Make many calls, some of them at the same time."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def make(call: Any) -> None:
        async with gate:
            await call()

    await asyncio.gather(*(make(call) for call in calls))
