"""The laboratory, closed when the test is over; a module may name a class of its own as ``LAB``."""

from collections.abc import AsyncIterator

import pytest
from group_lab import GroupLab


@pytest.fixture
async def lab(request: pytest.FixtureRequest) -> AsyncIterator[GroupLab]:
    found = getattr(request.module, "LAB", GroupLab)()
    await found.open()
    yield found
    await found.close()
