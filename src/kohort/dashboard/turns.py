"""
Turns: long work of the dashboard in slices, so that requests are answered in between.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

SLICE_SECONDS = 0.03
Item = TypeVar("Item")


async def take_turns(items: Iterable[Item]) -> AsyncIterator[Item]:
    """The items one after the other; other tasks have their turn after each slice of time."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for item in items:
        yield item
        if loop.time() - begun > SLICE_SECONDS:
            await asyncio.sleep(0)
            begun = loop.time()
