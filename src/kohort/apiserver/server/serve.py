"""
The listening socket of the server, the limits of its connections, and its shutdown.

Limits apply before a client is authenticated. The server answers bytes that are no HTTP with 400,
and logs one line without their content: they may hold a token, and may come a thousand times a
second. A client has limited time to send a whole header. After a refusal for lack of a token, the
server closes the connection.

The shutdown takes at most a second. Streams are ended first, because no watcher would ever leave
by itself; requests that run are given a moment. Each request is one task, which ends when its
client leaves.
"""

import asyncio
import logging
import ssl
from typing import Any

from aiohttp import web
from aiohttp.http_parser import RawRequestMessage

from kohort.apiserver.server.app import App
from kohort.apiserver.server.request.bodies import BODY_BYTES_MAX

HEADER_SECONDS_MAX = 30.0
_REFUSED_LINGER_SECONDS = 0.25
_UNAUTHORIZED = 401

log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """One connection of one client."""

    def __init__(self, manager: web.Server, *, header_seconds: float, **options: Any) -> None:
        super().__init__(manager, logger=log, **options)
        self._header_seconds = header_seconds
        self._header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time limit for the first header."""
        super().connection_made(transport)
        self._await_header()

    def data_received(self, data: bytes) -> None:
        """Receive bytes; the time limit of a header runs until it is complete."""
        super().data_received(data)
        if self._messages or self._waiter is None or self._waiter.done():
            self._stop_waiting()
        elif data:
            self._await_header()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Stop the time limit, since the client has closed the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_header(self) -> None:
        if self._header_timer is None:
            loop = asyncio.get_running_loop()
            self._header_timer = loop.call_later(self._header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _give_up(self) -> None:
        self._header_timer = None
        self.force_close()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer bytes that are no HTTP, without logging them."""
        log.info("%s sent a request that is no HTTP (%s)", request.remote, type(exc).__name__)
        if request.writer.output_size > 0:
            raise ConnectionError("half an answer was sent already")
        response = web.Response(status=status, text=f"{status} {_phrase(status)}")
        response.force_close()
        return response

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Send a response; the rest of a refused request's body is not read."""
        if resp.status == _UNAUTHORIZED:
            resp.force_close()
            self._lingering_time = _REFUSED_LINGER_SECONDS
        sent: tuple[web.StreamResponse, bool] = await super().finish_response(
            request, resp, start_time
        )
        return sent


def _phrase(status: int) -> str:
    return "Bad Request" if status < 500 else "Internal Server Error"


class Connections(web.Server):
    """Makes connections, each with the same options."""

    def __init__(self, handler: Any, *, header_seconds: float, **options: Any) -> None:
        super().__init__(handler, **options)
        self._header_seconds = header_seconds

    def __call__(self) -> Connection:
        """A connection for a new client."""
        return Connection(
            self, header_seconds=self._header_seconds, loop=self._loop, **self._kwargs
        )


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
