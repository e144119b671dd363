"""The laboratory, closed when the test is over."""

from collections.abc import AsyncIterator

import pytest
from serving_lab import ServingLab


@pytest.fixture
async def lab() -> AsyncIterator[ServingLab]:
    found = await ServingLab().open()
    yield found
    await found.close()
