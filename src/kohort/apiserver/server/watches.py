"""
Watch streams: events of a watch as lines on an HTTP connection.

Events go out in batches, one write for all that wait: encoded objects are joined,
never encoded again. A stream ends when its time is over, when the server stops or
when the client is gone; the server disconnects a client that does not read, since it
would have to store the unread events.

The answer to a write is sent after its watch events, so a controller finds its own
write in its cache. Writes of one turn of the event loop share the sending. A simulated
fault makes events late: then the answers do not wait for them.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from aiohttp import web

from kohort.apiserver.api.reads.watches import Watch, WatchEvent
from kohort.apiserver.server.answers import make_headers
from kohort.apiserver.server.tables import Converter
from kohort.cluster.errors import WatchExpired
from kohort.cluster.objects import encode_json

BOOKMARK_SECONDS = 60.0
WRITE_SECONDS_MAX = 30.0
_TIMEOUT_SECONDS = (1800, 3600)
# How long delayed events wait: longer than a client needs to read a response.
LATE_SECONDS = 0.02
# Streams write in the first turn of the event loop; after the second, sockets have the bytes.
_TURNS_TO_SEND = 2

_STARTS = {
    kind: f'{{"type":"{kind}","object":'.encode()
    for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}
_END = b"}\n"


class Streams:
    """All open streams, to end them together or to wait until they have sent everything."""

    def __init__(self) -> None:
        self.is_stopping = False
        self.late_events = False
        self.write_seconds_max = WRITE_SECONDS_MAX  # of one write
        self.watches: set[WatchStream] = set()
        self._tasks: set[asyncio.Task[object]] = set()

    async def deliver(self) -> None:
        """Return when all watchers that read their streams were sent all events so far."""
        if self.late_events or not any(watch.is_behind for watch in self.watches):
            return
        for _ in range(_TURNS_TO_SEND):
            await asyncio.sleep(0)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Stream in here: the block ends early, without an error, when the server stops."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self.is_stopping:
                raise
            task.uncancel()
        finally:
            self._tasks.discard(task)

    def stop(self) -> None:
        """End all streams, now and in future."""
        self.is_stopping = True
        for task in tuple(self._tasks):
            task.cancel()


def make_stream(media: str) -> web.StreamResponse:
    """A streamed response."""
    response = web.StreamResponse(headers=make_headers(media))
    response.enable_chunked_encoding()
    return response


async def open_stream(request: web.BaseRequest, media: str) -> web.StreamResponse:
    """Start a streamed response."""
    response = make_stream(media)
    await response.prepare(request)
    return response


class WatchStream:
    """One watch on one connection."""

    def __init__(
        self, watch: Watch, converter: Converter, clock: Callable[[], datetime], bookmarks: bool
    ) -> None:
        self._watch = watch
        self._converter = converter
        self._clock = clock
        self._bookmarks = bookmarks
        self._has_columns = False
        self._is_sending = False
        self._write_seconds_max = WRITE_SECONDS_MAX

    @property
    def is_behind(self) -> bool:
        """Whether events wait that are not on the socket yet."""
        return self._watch.has_events or self._is_sending

    async def run(
        self, request: web.BaseRequest, streams: Streams, timeout_seconds: int | None
    ) -> web.StreamResponse:
        """Write events until the time is over."""
        seconds = timeout_seconds or random.uniform(*_TIMEOUT_SECONDS)
        response = make_stream("application/json")
        self._write_seconds_max = streams.write_seconds_max
        streams.watches.add(self)
        try:
            await response.prepare(request)
            with streams.hold(), suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    if seconds > 0:
                        await self._pump(response, LATE_SECONDS if streams.late_events else 0.0)
            await end_or_drop(response, streams.write_seconds_max)
        except ConnectionError:
            drop(request)  # The client has closed the connection, or does not read.
        finally:
            streams.watches.discard(self)
            self._watch.close()
        return response

    async def _pump(self, response: web.StreamResponse, late_seconds: float) -> None:
        while not self._watch.is_closed:
            events = await self._watch.batch(BOOKMARK_SECONDS if self._bookmarks else None)
            if late_seconds:
                await asyncio.sleep(late_seconds)
            self._is_sending = True
            await write_or_drop(response, self._encode(events), self._write_seconds_max)
            # What was written now is on the socket when this turn of the event loop is over.
            asyncio.get_running_loop().call_soon(self._sent)
            if events and events[-1].type == "ERROR":
                return

    def _sent(self) -> None:
        self._is_sending = False

    def _encode(self, events: list[WatchEvent]) -> bytes:
        pieces: list[bytes] = []
        plain = not self._converter.form.convert
        for event in events:
            raw = event.raw if plain or event.type == "ERROR" else self._convert(event.raw)
            pieces += (_STARTS[event.type], raw, _END)
        return b"".join(pieces)

    def _convert(self, raw: bytes) -> bytes:
        """Convert an event; only the first table of a stream has column definitions."""
        columns, self._has_columns = not self._has_columns, True
        return self._converter.convert(raw, self._clock(), columns=columns)


async def write_or_drop(
    response: web.StreamResponse, data: bytes, seconds_max: float = WRITE_SECONDS_MAX
) -> None:
    """Write, or drop the connection of a client that has not read for long."""
    if not data:
        return
    try:
        async with asyncio.timeout(seconds_max):
            await response.write(data)
    except TimeoutError:
        raise ConnectionResetError("the client does not read") from None


async def end_or_drop(response: web.StreamResponse, seconds_max: float = WRITE_SECONDS_MAX) -> None:
    """End a stream, or drop the connection of a client that has not read for long."""
    try:
        async with asyncio.timeout(seconds_max):
            await response.write_eof()
    except TimeoutError:
        raise ConnectionResetError("the client does not read") from None


def drop(request: web.BaseRequest) -> None:
    """Abort a connection with its unsent bytes, since a normal end would wait for the client."""
    if request.transport is not None:
        request.transport.abort()


async def stream_expired(request: web.BaseRequest, error: WatchExpired) -> web.StreamResponse:
    """Send the Expired error of a watch with an old version as an event of the stream."""
    response = await open_stream(request, "application/json")
    with suppress(ConnectionError):
        await response.write(_STARTS["ERROR"] + encode_json(error.status()) + _END)
        await response.write_eof()
    return response
