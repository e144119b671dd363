"""The choice of the event loop: uvloop if it is installed, else Python's own."""

import asyncio
from collections.abc import Coroutine
from typing import Any


def run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, in an event loop of its own."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)
