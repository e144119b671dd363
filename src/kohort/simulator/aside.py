"""
Where work on large objects is done, so that nobody else waits for it.

A request of megabytes can take seconds: reading it, checking it, noting who owns which field.
Such work is pure, so in a running cluster a thread does it, while the event loop serves others;
whoever awaits it looks afterwards whether the world has changed. In a simulation it is done at
once, since nobody waits there and the order of things must not depend on threads.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")

ASIDE_BYTES_MIN = 32 * 1024
_THREADS = 2


class Aside(Protocol):
    """Does work whose length is told by the size of what is worked on."""

    async def __call__(self, size: int, work: Callable[[], T]) -> T:
        """What the work gives, or raises."""


async def at_once(size: int, work: Callable[[], T]) -> T:
    """Do it here and now."""
    return work()


class Threads:
    """Does large work in threads of its own, and small work at once, without giving way."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="aside")

    async def __call__(self, size: int, work: Callable[[], T]) -> T:
        """What the work gives, or raises."""
        if size < ASIDE_BYTES_MIN:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def stop(self) -> None:
        """Let what is under way end, and begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
