"""
Work on large objects, done in threads so that other requests need not wait for it.

A request of megabytes can take seconds: reading it, checking it, noting who owns which field.
Such work is pure, so in a running cluster a thread does it, while the event loop serves other
requests; the caller checks afterwards whether the stored object has changed. In a simulation it
is done at once, since no client waits there and the order of events must not depend on threads.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")

ASIDE_BYTES_MIN = 32 * 1024
_THREADS = 2


class Aside(Protocol):
    """Runs a function here or in a thread, depending on the size of its input."""

    async def __call__(self, size: int, work: Callable[[], T]) -> T:
        """What the work gives, or raises."""


async def at_once(size: int, work: Callable[[], T]) -> T:
    """Run the function at once, in the event loop."""
    return work()


class Threads:
    """Runs large work in threads, and small work at once, without yielding to the event loop."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="aside")

    async def __call__(self, size: int, work: Callable[[], T]) -> T:
        """What the work gives, or raises."""
        if size < ASIDE_BYTES_MIN:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def stop(self) -> None:
        """Wait for running work, and start no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
