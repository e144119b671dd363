"""
A server in a thread beside the tests, with an event loop of its own.

The thread ends with the block that started it. A server that cannot start raises its error
in the test, not in the thread.
"""

import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any


class ServerTurn:
    """The hand-over between a serving coroutine and the thread that started it."""

    def __init__(self) -> None:
        self.port = 0
        self.answered = threading.Event()  # it listens, or it failed to
        self._is_ending = threading.Event()
        self._end: Callable[[], object] = lambda: None

    async def serve(self, port: int) -> None:
        """Report that the server listens, and return when it should end."""
        import asyncio

        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(stop.set)
        if self._is_ending.is_set():  # The block ended before the server had started.
            stop.set()
        self.port = port
        self.answered.set()
        await stop.wait()

    def end(self) -> None:
        """Let the serving coroutine end."""
        self._is_ending.set()
        self._end()


Serve = Callable[[ServerTurn], Coroutine[Any, Any, None]]


@contextmanager
def run_in_thread(name: str, serve: Serve) -> Iterator[int]:
    """The port of a server that runs while the block does."""
    thread = _ServerThread(name, serve)
    thread.start()
    try:
        yield thread.wait_until_ready()
    finally:
        thread.stop()


class _ServerThread(threading.Thread):
    def __init__(self, name: str, serve: Serve) -> None:
        super().__init__(name=f"kohort-{name}", daemon=True)
        self._what = name
        self._serve = serve
        self._turn = ServerTurn()
        self._error: BaseException | None = None

    def run(self) -> None:
        from kohort.process.loop import run

        try:
            run(self._serve(self._turn))
        except BaseException as error:
            self._error = error
            if self._turn.port:
                raise  # The test no longer waits for the start: the thread reports the error.
        finally:
            self._turn.answered.set()

    def wait_until_ready(self) -> int:
        self._turn.answered.wait()
        if self._error is not None:
            raise RuntimeError(f"the {self._what} did not start: {self._error}") from self._error
        return self._turn.port

    def stop(self) -> None:
        if self.is_alive():
            self._turn.end()
        self.join()
