"""A laboratory with InferenceServices for each test that asks for one."""

import pytest
from service_lab import ServiceLab


@pytest.fixture
async def lab():
    opened = await ServiceLab().open()
    yield opened
    await opened.close()
