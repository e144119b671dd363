"""The laboratory, closed when the test is over."""

from collections.abc import AsyncIterator

import pytest
from group_lab import GroupLab


@pytest.fixture
async def lab() -> AsyncIterator[GroupLab]:
    found = await GroupLab().open()
    yield found
    await found.close()
