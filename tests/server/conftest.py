"""A server on loopback for each test."""

from collections.abc import AsyncIterator

import pytest
from http_face import Face, make_api, start_face


@pytest.fixture
async def face() -> AsyncIterator[Face]:
    started = await start_face(make_api())
    yield started
    await started.session.close()
    await started.server.stop()
