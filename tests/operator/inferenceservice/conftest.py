"""A laboratory with models for each test that asks for one."""

import pytest
from model_lab import ModelLab


@pytest.fixture
async def lab():
    opened = await ModelLab().open()
    yield opened
    await opened.close()
