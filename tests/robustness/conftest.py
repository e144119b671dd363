"""A cluster for each test."""

from collections.abc import AsyncIterator

import pytest
from robust_cluster import Cluster, start_cluster


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with start_cluster() as started:
        yield started
