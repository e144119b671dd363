"""
The HTTP page that shows, pauses, steps and speeds up the simulated clock.

No Kubernetes API has this, so it lies on a path of its own, behind the same token.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from aiohttp import web

from kohort.cluster.errors import BadRequest, MethodNotAllowed
from kohort.cluster.objects import Object
from kohort.simulator.clock import SPEED_MAX, OwnClock, WallClock

CLOCK_PATH = "/kohort/clock"
STEP_SECONDS_MAX = 30 * 24 * 3600


class ClockPage:
    """The page of one clock: GET shows it, POST changes it, both answer with its state."""

    def __init__(self, clock: WallClock, leap: Callable[[float], Awaitable[None]]) -> None:
        """Show a clock; ``leap`` lets so many simulated seconds pass at once."""
        self._clock = clock
        self._leap = leap
        self._one_at_a_time = asyncio.Lock()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if request.method == "POST":
            async with self._one_at_a_time:
                await self._change(await request.read())
        elif request.method != "GET":
            raise MethodNotAllowed("the clock can be read with GET and changed with POST")
        return web.Response(body=orjson.dumps(self._state()), content_type="application/json")

    def _state(self) -> Object:
        clock = self._clock
        return {
            "now": clock.now().isoformat(timespec="seconds"),
            "elapsedSeconds": round(clock.elapsed(), 3),
            "speed": clock.speed,
            "isPaused": clock.is_paused,
            "isOwn": isinstance(clock, OwnClock),
        }

    async def _change(self, raw: bytes) -> None:
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise BadRequest(f"the body is not JSON: {error}") from error
        action = str(body.get("action")) if isinstance(body, dict) else ""
        if action == "step":
            await self._leap(_number(body, "seconds", STEP_SECONDS_MAX))
            return
        if action == "speed":
            self._clock.change_speed(_number(body, "speed", SPEED_MAX))
            return
        simple: dict[str, Callable[[], None]] = {
            "pause": self._clock.pause,
            "resume": self._clock.resume,
        }
        if action not in simple:
            raise BadRequest('action must be "pause", "resume", "step" or "speed"')
        simple[action]()


def _number(body: Object, key: str, most: int) -> float:
    value: Any = body.get(key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 < value <= most:
        return float(value)
    raise BadRequest(f"{key} must be a number above 0 and up to {most}")
