"""A state whose watches end by a fault ends too, and does not wait for ever."""

import asyncio

import pytest

from kohort.cluster.port import Listing, Selection
from kohort.dashboard.state import State


class BrokenCluster:
    """A cluster whose client has a fault."""

    async def list(self, selection: Selection) -> Listing:
        raise RuntimeError("a fault")

    def watch(self, selection: Selection, version: str, *, initial: bool = False) -> None:
        raise RuntimeError("a fault")


async def test_watches_that_fail_before_the_first_list_end_the_state():
    state = State(BrokenCluster())
    with pytest.raises(ExceptionGroup):
        async with asyncio.timeout(20):
            await state.run()
    assert not state.is_ready.is_set()
