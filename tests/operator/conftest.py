"""A laboratory for each test that asks for one, on an event loop in virtual time."""

import pytest
from operator_lab import Lab

from kohort.simulation.virtual_loop import VirtualLoop


def pytest_asyncio_loop_factories():
    """Every test here runs in virtual time."""
    return {"virtual": VirtualLoop}


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()
