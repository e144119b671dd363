"""
The feed of server-sent events: changes with ids, for open pages and for reconnecting ones.

An id names the run of this process and a number. A page that reconnects with the id of its last
change gets the changes after it. If these are dropped, or the id is of another process, the feed
sends ``reset``, and the page loads everything again.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import orjson

KEPT_MAX = 500
COMMENT_SECONDS = 15.0
QUEUE_MAX = 1000  # changes that a page may leave unread


class FeedEvent(NamedTuple):
    """One event of the feed."""

    number: int
    name: str
    data: bytes


class Feed:
    """The last changes, and the pages that wait for the next."""

    def __init__(
        self,
        kept_max: int = KEPT_MAX,
        comment_seconds: float = COMMENT_SECONDS,
        queue_max: int = QUEUE_MAX,
    ) -> None:
        self.run = secrets.token_hex(4)
        self._number = 0
        self._kept: deque[FeedEvent] = deque(maxlen=kept_max)
        self._queues: set[asyncio.Queue[FeedEvent | None]] = set()
        self._comment_seconds = comment_seconds
        self._queue_max = queue_max

    @property
    def listeners(self) -> int:
        """How many pages listen."""
        return len(self._queues)

    def publish(self, name: str, value: Any) -> None:
        """Send a change to all pages."""
        self._number += 1
        event = FeedEvent(self._number, name, orjson.dumps(value))
        self._kept.append(event)
        for queue in tuple(self._queues):
            if queue.full():
                # The page does not read: it is disconnected, reconnects and loads everything again.
                self._queues.discard(queue)
                _end(queue)
            else:
                queue.put_nowait(event)

    def close(self) -> None:
        """End the streams of all pages."""
        for queue in tuple(self._queues):
            _end(queue)

    async def listen(self, last_id: str) -> AsyncGenerator[bytes, None]:
        """The bytes of one stream, for a page that has seen everything up to an id."""
        queue: asyncio.Queue[FeedEvent | None] = asyncio.Queue(self._queue_max)
        missed = self._find_missed(last_id)
        self._queues.add(queue)
        try:
            if missed is None:
                yield self._write(FeedEvent(self._number, "reset", b"{}"))
            for event in missed or ():
                yield self._write(event)
            while True:
                try:
                    async with asyncio.timeout(self._comment_seconds):
                        next_ = await queue.get()
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                if next_ is None:
                    return
                yield self._write(next_)
        finally:
            self._queues.discard(queue)

    def _find_missed(self, last_id: str) -> list[FeedEvent] | None:
        """The changes after an id; None if some have been dropped."""
        run, _, text = last_id.partition("-")
        if run != self.run or not text.isdecimal():
            return None
        seen = int(text)
        oldest = self._kept[0].number if self._kept else self._number + 1
        if seen > self._number or seen + 1 < oldest:
            return None
        return [event for event in self._kept if event.number > seen]

    def _write(self, event: FeedEvent) -> bytes:
        head = f"id: {self.run}-{event.number}\nevent: {event.name}\n".encode()
        return head + b"data: " + event.data + b"\n\n"


def _end(queue: "asyncio.Queue[FeedEvent | None]") -> None:
    """End the stream of a page, also of one that has stopped reading."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(None)
