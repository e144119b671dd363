"""
The listening socket of the server, and its shutdown within a second.

Streams are ended first, because no watcher would ever leave by itself; requests that
run are given a moment. Each request is one task, which ends when its client leaves.
"""

import asyncio
import ssl
from typing import Any

from aiohttp import web
from aiohttp.http_parser import RawRequestMessage

from kohort.apiserver.server.app import App
from kohort.apiserver.server.connections import HEADER_SECONDS_MAX, Connections
from kohort.apiserver.server.request.bodies import BODY_BYTES_MAX

_STOP_SECONDS_MAX = 0.8
# Clients keep connections between bursts of work; closing them early makes them fail.
_KEEPALIVE_SECONDS = 3600.0

_LINE_BYTES_MAX = 64 * 1024


class Server:
    """A running server."""

    def __init__(self, app: App, runner: web.ServerRunner, port: int) -> None:
        self.port = port
        self._app = app
        self._runner = runner

    async def stop(self) -> None:
        """End streams, let running requests finish for a moment, and close."""
        self._app.stop_streams()
        await self._runner.cleanup()


def _make_request(
    message: RawRequestMessage, payload: Any, protocol: Any, writer: Any, task: Any
) -> web.BaseRequest:
    return web.BaseRequest(
        message,
        payload,
        protocol,
        writer,
        task,
        asyncio.get_running_loop(),
        client_max_size=BODY_BYTES_MAX,
    )


async def serve(
    app: App,
    ssl_context: ssl.SSLContext | None,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    header_seconds: float = HEADER_SECONDS_MAX,
) -> Server:
    """Listen; a port of 0 takes any free one."""
    server = Connections(
        app.handle,
        header_seconds=header_seconds,
        request_factory=_make_request,
        handler_cancellation=True,
        access_log=None,
        keepalive_timeout=_KEEPALIVE_SECONDS,
        lingering_time=2.0,
        auto_decompress=False,
        max_line_size=_LINE_BYTES_MAX,
        max_field_size=_LINE_BYTES_MAX,
    )
    runner = web.ServerRunner(server, shutdown_timeout=_STOP_SECONDS_MAX)
    await runner.setup()
    site = web.TCPSite(runner, host, port, ssl_context=ssl_context, backlog=1024)
    await site.start()
    return Server(app, runner, runner.addresses[0][1])
