"""Connections of clients that say nothing right, nothing at all, or never listen."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random

import pytest
from aiohttp import web
from robust_cluster import CONFIG_MAPS, TOKEN, config_map

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.api.registry import Registry
from kohort.apiserver.api.requests import WriteOptions
from kohort.apiserver.resources.builtin import builtin_resources
from kohort.apiserver.server.app import TokenAuth, create_app
from kohort.apiserver.server.serve import serve
from kohort.apiserver.store.store import Store
from kohort.cluster.kinds import CONFIG_MAP, NAMESPACE

HEAD = f"GET {CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"


class ImpatientServer:
    """A server whose patience is short."""

    def __init__(self) -> None:
        self.api = ApiServer(
            Store(), Registry(builtin_resources()), lambda: datetime.now(UTC), Random(1)
        )
        self.app = create_app(self.api, TokenAuth(TOKEN))
        self.port = 0
        self.runner: web.ServerRunner

    @property
    def connections(self) -> list[object]:
        assert self.runner.server is not None
        return list(self.runner.server.connections)

    async def say(self, *parts: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for part in parts:
            writer.write(part)
        return reader, writer


@pytest.fixture
async def server() -> AsyncIterator[ImpatientServer]:
    started = ImpatientServer()
    api = started.api
    await api.create(api.target(NAMESPACE), {"metadata": {"name": "default"}}, WriteOptions())
    server = await serve(started.app, None, header_seconds=0.2)
    started.port, started.runner = server.port, server._runner
    yield started
    await server.stop()


MALFORMED = [
    b"nonsense\r\n\r\n",
    b"GET / HTTP/9.9.9\r\n\r\n",
    b"GET / HTTP/1.1\nAuthorization: Bearer " + TOKEN.encode() + b"\n\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + TOKEN.encode() + b"\nX\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: " + b"y" * 70_000 + b"\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


@pytest.mark.parametrize("request_", MALFORMED, ids=lambda text: repr(text[:16]))
async def test_what_is_no_http_costs_one_line_of_log_without_a_word_of_it(
    server: ImpatientServer, request_, caplog
):
    caplog.set_level(logging.INFO)
    async with asyncio.timeout(10):
        reader, writer = await server.say(request_)
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.0 400") or answer.startswith(b"HTTP/1.1 400")
    said = [record for record in caplog.records if record.name != "asyncio"]
    assert [(record.levelname, record.exc_info) for record in said] == [("INFO", None)]
    assert TOKEN not in caplog.text
    assert TOKEN.encode() not in answer


@pytest.mark.parametrize("start", [b"", b"GET / HT", HEAD.encode(), HEAD.encode() + b"X"])
async def test_half_a_header_is_not_waited_for_without_end(server: ImpatientServer, start):
    async with asyncio.timeout(10):
        reader, writer = await server.say(start)
        assert await reader.read() == b""
        writer.close()


async def test_nor_is_half_a_second_one(server: ImpatientServer):
    async with asyncio.timeout(10):
        reader, writer = await server.say(HEAD.encode(), b"\r\n")
        await reader.readuntil(b"}")
        writer.write(HEAD.encode())
        await reader.read()
        writer.close()


async def test_a_connection_at_rest_between_two_requests_is_kept(server: ImpatientServer):
    async with asyncio.timeout(10):
        reader, writer = await server.say(HEAD.encode(), b"\r\n")
        await reader.readuntil(b'"items":[]}\n')
        # Another client is given up meanwhile: so long is longer than the patience for headers.
        assert await (await server.say(b"GET"))[0].read() == b""
        writer.write(HEAD.encode() + b"\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_a_connection_without_a_token_is_closed(server: ImpatientServer):
    head = f"POST {CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n"
    async with asyncio.timeout(10):
        reader, writer = await server.say(head.encode(), b"{" * 100)
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 401")
    assert b"Connection: close" in answer


async def test_a_watcher_that_never_reads_is_dropped(server: ImpatientServer):
    server.app._verbs.streams.write_seconds_max = 0.1
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    listener.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(listener, ("127.0.0.1", server.port))
    watch = HEAD.replace(CONFIG_MAPS, f"{CONFIG_MAPS}?watch=true") + "\r\n"
    await loop.sock_sendall(listener, watch.encode())
    streams = server.app._verbs.streams
    async with asyncio.timeout(20):
        while not streams.watches:
            await asyncio.sleep(0.01)
        target, number = server.api.target(CONFIG_MAP, "default"), 0
        while streams.watches:
            number += 1
            body = config_map(f"a{number % 10}-{number}", data={"a": "x" * 500_000})
            await server.api.create(target, body, WriteOptions())
            await asyncio.sleep(0.01)
        while server.connections:
            await asyncio.sleep(0.01)
    listener.close()
