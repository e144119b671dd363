"""
Loads: requests over HTTPS, many at once, from a client that costs little.

A connection sends the next request as soon as it has the answer to the last one.
Only as much of HTTP is read as Kohort writes: a status, a length, a body.
"""

import asyncio
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass

from bench.processes import Cluster

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a load came to."""

    requests: int
    seconds: float
    server_cpu_seconds: float
    client_cpu_seconds: float

    @property
    def rate(self) -> float:
        """Requests per second, as the client saw them."""
        return self.requests / self.seconds

    @property
    def server_cpu_us(self) -> float:
        """What one request cost the server, in microseconds of CPU time."""
        return self.server_cpu_seconds / self.requests * 1e6

    @property
    def rate_alone(self) -> float:
        """Requests per second of CPU time: the rate on a core that no other process uses."""
        return self.requests / self.server_cpu_seconds


class _Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self, requests: Iterator[bytes], done: asyncio.Future[None]) -> None:
        self._requests = requests
        self._done = done
        self._buffer = b""
        self._body_end = 0
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]

    def send(self) -> None:
        """Send the next request, or close if there is none left."""
        assert self._transport is not None
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            if not self._done.done():
                self._done.set_result(None)
            return
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if not self._body_end:
            self._read_head()
        if self._body_end and len(self._buffer) >= self._body_end:
            self._buffer, self._body_end = b"", 0
            self.send()

    def _read_head(self) -> None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        if head[9:10] != b"2":
            self._fail(self._buffer)
            return
        start = head.index(b"content-length:") + 15
        line_end = head.find(b"\r\n", start)
        self._body_end = end + 4 + int(head[start : line_end if line_end > 0 else end])

    def _fail(self, answer: bytes) -> None:
        if not self._done.done():
            self._done.set_exception(RuntimeError(answer[:600].decode(errors="replace")))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionResetError("the server closed"))


def make_request(cluster: Cluster, method: str, path: str, body: bytes = b"") -> bytes:
    """One request as bytes."""
    media = "application/merge-patch+json" if method == "PATCH" else "application/json"
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{cluster.port}\r\n"
        f"Authorization: Bearer {cluster.token}\r\nUser-Agent: bench/1\r\n"
        f"Accept: application/json\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def trust(cluster: Cluster) -> ssl.SSLContext:
    """What a client needs to believe the server."""
    return ssl.create_default_context(cadata=cluster.ca)


async def send(cluster: Cluster, requests: list[bytes], at_once: int) -> Outcome:
    """Send all requests over so many connections, and measure."""
    loop = asyncio.get_running_loop()
    remaining = iter(requests)
    tls = trust(cluster)
    done: list[asyncio.Future[None]] = [loop.create_future() for _ in range(at_once)]
    connections = [_Connection(remaining, future) for future in done]
    for connection in connections:
        await loop.create_connection(lambda c=connection: c, HOST, cluster.port, ssl=tls)  # type: ignore[misc]
    # Handshakes are over: clients keep their connections.
    server, client, began = cluster.cpu_seconds(), time.process_time(), time.perf_counter()
    for connection in connections:
        connection.send()
    await asyncio.gather(*done)
    return Outcome(
        len(requests),
        time.perf_counter() - began,
        cluster.cpu_seconds() - server,
        time.process_time() - client,
    )
