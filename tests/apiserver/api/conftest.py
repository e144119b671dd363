"""Fixtures of the API's tests."""

from pathlib import Path

import pytest
from api_builders import NOW, Bench

from kohort.apiserver.api.api import ApiServer
from kohort.apiserver.store.sqlite import open_store


@pytest.fixture
async def bench() -> Bench:
    return await Bench().start()


@pytest.fixture
async def kept(tmp_path: Path) -> Bench:
    """A bench on disk, whose writes are committed only when the test says so."""
    bench = Bench()
    store = open_store(tmp_path / "cluster.db")
    bench.api = ApiServer(store, bench.api.registry, lambda: NOW, bench.api.context.chance)
    await bench.start()
    store.on_dirty = lambda: None
    return bench
