"""
The connection pool to one API server: it adds credentials, limits the rate, and retries.

All requests but watches and urgent ones pass the rate limit and the limit on requests under way: a
lease must not wait behind the requests that it allows. The rate limit is a token bucket: so many
requests per second, and so many at once after a rest. It only does arithmetic on the time it is
given. A request takes its token at once and learns how long to wait, so waiting requests are sent
in the order in which they came, and no request needs a lock.

Connections that fail become ``Unavailable``, or ``NotSent`` when the server never
saw the request; silence becomes ``TimedOut``. An answer of 401 makes the
credentials renew themselves once.

A read may always be repeated. A write is repeated only when it has certainly not
been applied: the connection was never made, or the server turned it away with
429 before it read it. If the server asks for a wait of more than some seconds, the
caller gets the error at once instead of waiting.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from random import Random, SystemRandom

import aiohttp
from yarl import URL

from kohort import __version__
from kohort.cluster.errors import (
    ClusterError,
    InternalError,
    KohortError,
    TimedOut,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from kohort.cluster.http.access.access import Access
from kohort.cluster.http.answers import read_error, retry_after_seconds


class Bucket:
    """A bucket that fills with time; waiting requests may overdraw it."""

    def __init__(self, qps: float, burst: int) -> None:
        self.qps = qps
        self.burst = max(burst, 1)
        self._tokens = float(self.burst)
        self._filled_at: float | None = None

    def take(self, now: float) -> float:
        """Take a token; returns the seconds to wait before the request is sent."""
        if self.qps <= 0:
            return 0.0
        passed = now - self._filled_at if self._filled_at is not None else 0.0
        self._filled_at = now
        self._tokens = min(float(self.burst), self._tokens + max(passed, 0.0) * self.qps) - 1.0
        return max(0.0, -self._tokens / self.qps)


ATTEMPTS_MAX = 4
WAIT_SECONDS_MAX = 10.0
_BACKOFF_SECONDS = 0.1


class NotSent(Unavailable):
    """The connection failed before the server received the request."""


def find_retry_delay(
    method: str, error: ClusterError, attempt: int, chance: Random
) -> float | None:
    """Seconds until the next attempt; None when there is none. The first attempt is 1."""
    if attempt >= ATTEMPTS_MAX or not _may_repeat(method, error):
        return None
    asked = retry_after_seconds(error)
    if asked is not None:
        return None if asked > WAIT_SECONDS_MAX else asked * chance.uniform(1.0, 1.1)
    return _BACKOFF_SECONDS * float(2**attempt) * chance.uniform(0.5, 1.0)


def _may_repeat(method: str, error: ClusterError) -> bool:
    if isinstance(error, TooManyRequests | NotSent):
        return True
    if method != "GET":
        return False
    if isinstance(error, InternalError | TimedOut):
        return retry_after_seconds(error) is not None
    return isinstance(error, Unavailable)


USER_AGENT = f"kohort/{__version__}"
CALL_SECONDS_MAX = 60.0
CONNECT_SECONDS_MAX = 10.0
CALLS_AT_ONCE_MAX = 128

_CALL_TIMEOUT = aiohttp.ClientTimeout(total=CALL_SECONDS_MAX, sock_connect=CONNECT_SECONDS_MAX)
ANSWER_SECONDS_MAX = 60.0  # until a stream begins
# A stream may be silent for long. TCP keep-alive finds a dead peer, but not a dead server behind a
# load balancer: a caller that knows when the server ends the stream says so.
_STREAM_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS_MAX)
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, without its credentials."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    media: str = "application/json"
    is_urgent: bool = False  # it waits for no other request


class Transport:
    """Sends calls to one server."""

    def __init__(self, access: Access, limiter: Bucket, chance: Random | None = None) -> None:
        self.access = access
        self._limiter = limiter
        self._chance = chance or SystemRandom()
        self._calls = asyncio.Semaphore(CALLS_AT_ONCE_MAX)
        self._session: aiohttp.ClientSession | None = None
        self.server_date = ""  # the Date of the last answer; empty if there was none

    async def send(self, call: Call) -> bytes:
        """The body of a successful answer; repeats the call where that is safe."""
        attempt = 0
        has_renewed = False
        while True:
            attempt += 1
            try:
                async with nullcontext() if call.is_urgent else self._calls:
                    return await self._send_once(call)
            except Unauthorized:
                if has_renewed or not await self.access.credentials.renew():
                    raise
                has_renewed = True
            except ClusterError as error:
                delay = find_retry_delay(call.method, error, attempt, self._chance)
                if delay is None:
                    raise
                await asyncio.sleep(delay)

    async def _send_once(self, call: Call) -> bytes:
        delay = 0.0 if call.is_urgent else self._limiter.take(time.monotonic())
        if delay:
            await asyncio.sleep(delay)
        async with self._answer(call, _CALL_TIMEOUT) as response:
            with _failures(self.access.server):
                return await response.read()

    async def stream(
        self, call: Call, seconds_max: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        """The chunks of a streamed response; an error if it does not end within so many seconds."""
        end = None if seconds_max is None else time.monotonic() + seconds_max
        try:
            async with self._answer(call, _STREAM_TIMEOUT, ANSWER_SECONDS_MAX) as response:
                while chunk := await self._next_chunk(response, end):
                    yield chunk
        except Unauthorized:
            # The caller makes the next attempt, as after any broken stream.
            await self.access.credentials.renew()
            raise

    async def _next_chunk(self, response: aiohttp.ClientResponse, end: float | None) -> bytes:
        left = None if end is None else max(end - time.monotonic(), 0.0)
        with _failures(self.access.server):
            async with asyncio.timeout(left):
                return await response.content.readany()

    @asynccontextmanager
    async def _answer(
        self, call: Call, timeout: aiohttp.ClientTimeout, seconds_max: float | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        session = self._open()
        headers = await self.access.credentials.headers()
        if call.body is not None:
            headers["Content-Type"] = call.media
        tls = self.access.tls.context(self.access.credentials.certificate())
        url = URL(self.access.server + call.path, encoded=True).with_query(call.query)
        try:
            with _failures(self.access.server):
                async with asyncio.timeout(seconds_max):
                    response = await session.request(
                        call.method,
                        url,
                        data=call.body,
                        headers=[*self.access.headers, *headers.items()],
                        ssl=tls,
                        server_hostname=self.access.server_name or None,
                        proxy=self.access.proxy or None,
                        timeout=timeout,
                        allow_redirects=False,
                    )
        except KohortError:
            self.server_date = ""  # an old date would pass for a clock that is behind
            raise
        self.server_date = response.headers.get("Date", "")
        async with response:
            if response.status >= 300:
                with _failures(self.access.server):
                    body = await response.read()
                raise read_error(response.status, body, response.headers.get("Retry-After", ""))
            yield response

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, socket_factory=_make_socket),
                # Compressing lists costs the server more than sending them.
                headers={
                    "User-Agent": USER_AGENT,
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",
                },
                cookie_jar=aiohttp.DummyCookieJar(),
            )
            # aiohttp would repeat PUT and DELETE by itself, which the server may have applied.
            self._session._retry_connection = False
        return self._session

    async def close(self) -> None:
        """Let all connections go."""
        await self.access.credentials.close()
        if self._session is not None:
            await self._session.close()
            self._session = None


class _failures:
    """Turn the exceptions of a connection into ClusterErrors."""

    def __init__(self, server: str) -> None:
        self._server = server

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, KohortError):
            return
        if isinstance(error, TimeoutError):
            text = f"{self._server} did not answer in time"
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                raise NotSent(f"cannot reach {self._server}: no connection in time") from error
            raise TimedOut(text) from error
        if isinstance(error, aiohttp.ClientConnectorError):
            raise NotSent(f"cannot reach {self._server}: {error.os_error}") from error
        if isinstance(error, aiohttp.ClientError | OSError | ssl.SSLError):
            raise Unavailable(f"lost the connection to {self._server}: {error!r}") from error


def _make_socket(address: tuple[object, ...]) -> socket.socket:
    snapshot, kind, protocol, *_ = address
    made = socket.socket(snapshot, kind, protocol)  # type: ignore[arg-type]
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in _KEEPALIVE.items():
        option = getattr(socket, name, None)
        if option is not None:
            made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made
