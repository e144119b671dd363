"""A server on loopback for each test."""

from collections.abc import AsyncIterator

import pytest
from http_server import HttpServer, make_api, start_http_server


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    started = await start_http_server(make_api())
    yield started
    await started.session.close()
    await started.server.stop()
