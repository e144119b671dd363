"""The laboratories, closed when a test is over; a module may name a class of its own as ``LAB``."""

from collections.abc import AsyncIterator

import pytest
from group_gang_lab import GangLab
from group_lab import GroupLab

from kohort.apis.gangs.dialects.kai import KAI
from kohort.apis.gangs.dialects.volcano import VOLCANO


@pytest.fixture
async def lab(request: pytest.FixtureRequest) -> AsyncIterator[GroupLab]:
    found = getattr(request.module, "LAB", GroupLab)()
    await found.open()
    yield found
    await found.close()


@pytest.fixture
async def volcano() -> AsyncIterator[GangLab]:
    lab = GangLab(VOLCANO)
    await lab.begin()
    yield lab
    await lab.close()


@pytest.fixture
async def kai() -> AsyncIterator[GangLab]:
    lab = GangLab(KAI)
    await lab.begin()
    yield lab
    await lab.close()
