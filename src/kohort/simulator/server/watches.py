"""
Where a watch becomes a stream of lines on a connection.

Events go out in batches, one write for all that wait: encoded objects are joined,
never encoded again. A stream ends when its time is over, when the server stops or
when the client is gone; a client that does not read is disconnected, since what it
misses would have to be kept for it.

Whoever writes is answered after watchers were sent what came of it, so a controller
finds in its cache what it has just written. Writes of one turn of the event loop
share the sending. As a fault, events can be made late: then answers do not wait, and
events do.
"""

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from aiohttp import web

from kohort.cluster.errors import WatchExpired
from kohort.cluster.objects import encode_json
from kohort.simulator.api.reads.watches import Watch, WatchEvent
from kohort.simulator.server.answers import make_headers
from kohort.simulator.server.tables import Converter

BOOKMARK_SECONDS = 60.0
WRITE_SECONDS_MAX = 30.0
_TIMEOUT_SECONDS = (1800, 3600)
# So long late events wait: longer than any client needs to read the answer to its write.
LATE_SECONDS = 0.02
# In the first turn of the event loop streams write, after the second it is on the sockets.
_TURNS_TO_SEND = 2

_STARTS = {
    kind: f'{{"type":"{kind}","object":'.encode()
    for kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
}
_END = b"}\n"


class Streams:
    """All open streams: they can be ended together, and a writer can wait for them."""

    def __init__(self) -> None:
        self.is_stopping = False
        self.late_events = False
        self.write_seconds_max = WRITE_SECONDS_MAX  # for one write to a client that does not read
        self.watches: set[WatchStream] = set()
        self._tasks: set[asyncio.Task[object]] = set()

    async def deliver(self) -> None:
        """Return when watchers who read were sent what has happened so far."""
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
    """An answer whose length nobody knows."""
    response = web.StreamResponse(headers=make_headers(media))
    response.enable_chunked_encoding()
    return response


async def open_stream(request: web.BaseRequest, media: str) -> web.StreamResponse:
    """Begin an answer whose length nobody knows."""
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
        """Whether something has happened that is not on the socket yet."""
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
            drop(request)  # The client has left and will not mind, or does not read.
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
        """Only the first table of a stream names its columns."""
        columns, self._has_columns = not self._has_columns, True
        return self._converter.convert(raw, self._clock(), columns=columns)


async def write_or_drop(
    response: web.StreamResponse, data: bytes, seconds_max: float = WRITE_SECONDS_MAX
) -> None:
    """Write, or give up on a client that has not read for long."""
    if not data:
        return
    try:
        async with asyncio.timeout(seconds_max):
            await response.write(data)
    except TimeoutError:
        raise ConnectionResetError("the client does not read") from None


async def end_or_drop(response: web.StreamResponse, seconds_max: float = WRITE_SECONDS_MAX) -> None:
    """End a stream, or give up on a client that has not read for long."""
    try:
        async with asyncio.timeout(seconds_max):
            await response.write_eof()
    except TimeoutError:
        raise ConnectionResetError("the client does not read") from None


def drop(request: web.BaseRequest) -> None:
    """Let go of a connection with all that waits on it: its end would wait to be read, too."""
    if request.transport is not None:
        request.transport.abort()


async def stream_expired(request: web.BaseRequest, error: WatchExpired) -> web.StreamResponse:
    """A watch that starts too far in the past is told so in the stream."""
    response = await open_stream(request, "application/json")
    with suppress(ConnectionError):
        await response.write(_STARTS["ERROR"] + encode_json(error.status()) + _END)
        await response.write_eof()
    return response
