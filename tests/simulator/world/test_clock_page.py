"""The page of the clock, over HTTP: a long step shows that the cluster is at work."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import aiohttp
import orjson
import pytest
from aiohttp import web

from kohort.simulator.clock import WallClock
from kohort.simulator.clock_page import ClockPage

STEP = {"action": "step", "seconds": 60}


class Leap:
    """A step that takes until it may end."""

    def __init__(self) -> None:
        self.clock = WallClock(lambda: datetime(2026, 1, 1, tzinfo=UTC), lambda: 0.0)
        self.may_end, self.has_ended = asyncio.Event(), asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        await self.may_end.wait()
        self.clock.step(seconds)
        self.has_ended.set()


@pytest.fixture
async def leap() -> Leap:
    return Leap()


@pytest.fixture
async def url(leap: Leap) -> AsyncIterator[str]:
    page = ClockPage(leap.clock, leap, sign_seconds=0.01)
    runner = web.ServerRunner(web.Server(page.answer))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}/"
    await runner.cleanup()


async def test_a_long_step_gives_signs_of_life_before_its_answer(url: str, leap: Leap):
    async with aiohttp.ClientSession() as session, session.post(url, json=STEP) as answer:
        sign = await answer.content.readany()
        assert sign.isspace()
        leap.may_end.set()
        told = orjson.loads(sign + await answer.read())
    assert told["elapsedSeconds"] == 60
    assert answer.content_type == "application/json"


async def test_a_step_goes_on_though_its_client_has_gone(url: str, leap: Leap):
    async with aiohttp.ClientSession() as session:
        async with session.post(url, json=STEP) as answer:
            assert (await answer.content.readany()).isspace()
            answer.close()
        leap.may_end.set()
        await leap.has_ended.wait()
        async with session.get(url) as answer:
            assert (await answer.json())["elapsedSeconds"] == 60
