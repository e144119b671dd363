"""Fixtures of the API's tests."""

import pytest
from api_builders import Bench


@pytest.fixture
async def bench() -> Bench:
    return await Bench().start()
