"""A real Prometheus reads a real operator: every panel of both boards shows data."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from monitored_world import MS, Monitored, monitored

from prometheus_driver import BOARDS, Prometheus, list_queries, started_prometheus, until

CHOSEN = {"kind": MS.name, "namespace": "default", "name": "x"}


@pytest.mark.slow
async def test_every_panel_shows_data_of_a_workload_in_trouble(tmp_path: Path):
    async with monitored() as world:
        await world.create_serving()
        await world.lose_pod()
        await world.roll_out("engine:2")
        async with started_prometheus(tmp_path, world.target, []) as prometheus:
            await world.roll_out_broken()
            await until(prometheus.is_scraping, lambda: "a scrape")
            for board in BOARDS:
                await expect_data(prometheus, list_queries(board, **CHOSEN), world)


async def expect_data(prometheus: Prometheus, queries: dict[str, str], world: Monitored) -> None:
    """All queries return series; those that need two scrapes may take a moment."""
    missing = dict(queries)

    async def is_complete() -> bool:
        answers: list[Any] = await asyncio.gather(*map(prometheus.query, missing.values()))
        for panel, answer in zip(list(missing), answers, strict=True):
            if answer:
                del missing[panel]
        await world.touch()
        return not missing

    await until(is_complete, lambda: f"data of {missing}")
