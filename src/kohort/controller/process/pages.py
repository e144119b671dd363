"""
Pages of the process: small texts over HTTP, for probes and for Prometheus.

Pages are functions, called for each request. Several may share one address, so one socket
serves all pages of an address. A page with restricted access has a guard, which checks the
client before the page is sent, and TLS, since clients send tokens.
"""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from kohort.cluster.errors import KohortError
from kohort.controller.process.access import Access

NOWHERE = "0"
_STOP_SECONDS_MAX = 1.0


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a response, whether it is good, and its media type."""

    text: str
    is_good: bool = True
    media_type: str = "text/plain; charset=utf-8"


Pages = Mapping[str, Callable[[], Page]]


@dataclass(frozen=True, slots=True)
class Guard:
    """Decides by Authorization header and path whether a client may read a page, over TLS."""

    judge: Callable[[str, str], Awaitable[Access]]
    tls: ssl.SSLContext


class PageServer:
    """Serves pages on some addresses."""

    def __init__(self) -> None:
        self.ports: dict[str, int] = {}
        self._runners: list[web.ServerRunner] = []

    async def start(self, address: str, pages: Pages, guard: Guard | None = None) -> None:
        """Serve pages at host:port, over HTTPS with a guard; do nothing for address "0"."""
        if address in (NOWHERE, ""):
            return
        host, _, port = address.rpartition(":")

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            if guard is not None:
                access = await guard.judge(request.headers.get("Authorization", ""), request.path)
                if not access.is_allowed:
                    return _refuse(access)
            return _answer(pages, request.path)

        runner = web.ServerRunner(
            web.Server(handle, access_log=None), shutdown_timeout=_STOP_SECONDS_MAX
        )
        await runner.setup()
        self._runners.append(runner)
        try:
            tls = None if guard is None else guard.tls
            where = host.strip("[]") or None
            await web.TCPSite(runner, where, int(port), ssl_context=tls).start()
        except OSError as error:
            raise KohortError(f"cannot listen on {address}: {error.strerror or error}") from error
        self.ports[address] = runner.addresses[0][1]

    async def stop(self) -> None:
        """Close all sockets."""
        for runner in self._runners:
            await runner.cleanup()
        self._runners.clear()


def _refuse(access: Access) -> web.Response:
    response = web.Response(status=access.code, text=f"{access.text}\n")
    if access.code == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _answer(pages: Pages, path: str) -> web.Response:
    page = pages.get(path.rstrip("/") or "/")
    if page is None:
        return web.Response(status=404, text="404 page not found\n")
    found = page()
    response = web.Response(status=200 if found.is_good else 500, body=found.text.encode())
    response.headers["Content-Type"] = found.media_type
    return response
