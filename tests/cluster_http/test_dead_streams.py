"""A watch whose server has gone without a word ends, and the next one goes on."""

import asyncio

import pytest
from aiohttp import web
from scripted_server import CONFIGMAP, client_of, serving

from kohort.cluster.errors import TimedOut
from kohort.cluster.http import client, transport
from kohort.cluster.port import Selection

ALL = Selection(CONFIGMAP, "lab")
LINE = b'{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n'


async def fall_silent(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(LINE)
    await asyncio.sleep(60)
    return response


async def say_nothing(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(60)
    return web.Response()


async def test_a_watch_that_the_server_does_not_end_in_time_is_given_up(monkeypatch):
    monkeypatch.setattr(client, "_WATCH_SECONDS", (0, 0))
    monkeypatch.setattr(client, "SLACK_SECONDS", 0.3, raising=False)
    seen = []
    async with serving(fall_silent) as script, client_of(script) as cluster, asyncio.timeout(10):
        with pytest.raises(TimedOut):
            async for change in cluster.watch(ALL, "1"):
                seen.append(change.type)
    assert seen == ["ADDED"]


async def test_a_watch_that_never_begins_is_given_up(monkeypatch):
    monkeypatch.setattr(transport, "ANSWER_SECONDS_MAX", 0.3, raising=False)
    async with serving(say_nothing) as script, client_of(script) as cluster, asyncio.timeout(10):
        with pytest.raises(TimedOut):
            async for _ in cluster.watch(ALL, "1"):
                pass
