"""A laboratory for each test that asks for one."""

import pytest
from operator_lab import Lab


@pytest.fixture
async def lab():
    opened = await Lab().open()
    yield opened
    await opened.close()
