"""
Pages of the process: small texts over plain HTTP, for probes and for Prometheus.

Pages are functions, asked when somebody looks. Several may share one address, so
pages with the same address are served by one socket.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from kohort.cluster.errors import KohortError

NOWHERE = "0"
_STOP_SECONDS_MAX = 1.0


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown."""

    text: str
    is_good: bool = True
    media_type: str = "text/plain; charset=utf-8"


Pages = Mapping[str, Callable[[], Page]]


class PageServer:
    """Pages on some addresses."""

    def __init__(self) -> None:
        self.ports: dict[str, int] = {}
        self._runners: list[web.ServerRunner] = []

    async def start(self, address: str, pages: Pages) -> None:
        """Serve pages at host:port; nowhere if the address says so."""
        if address == NOWHERE:
            return
        host, _, port = address.rpartition(":")

        async def handle(request: web.BaseRequest) -> web.StreamResponse:
            return _answer(pages, request.path)

        runner = web.ServerRunner(
            web.Server(handle, access_log=None), shutdown_timeout=_STOP_SECONDS_MAX
        )
        await runner.setup()
        self._runners.append(runner)
        try:
            await web.TCPSite(runner, host.strip("[]") or None, int(port)).start()
        except OSError as error:
            raise KohortError(f"cannot listen on {address}: {error.strerror or error}") from error
        self.ports[address] = runner.addresses[0][1]

    async def stop(self) -> None:
        """Close all sockets."""
        for runner in self._runners:
            await runner.cleanup()
        self._runners.clear()


def _answer(pages: Pages, path: str) -> web.Response:
    page = pages.get(path.rstrip("/") or "/")
    if page is None:
        return web.Response(status=404, text="404 page not found\n")
    found = page()
    response = web.Response(status=200 if found.is_good else 500, body=found.text.encode())
    response.headers["Content-Type"] = found.media_type
    return response
