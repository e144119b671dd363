"""
The HTTP page that shows, pauses, steps and speeds up the simulated clock.

No Kubernetes API has this, so it lies on a path of its own, behind the same token.

A step of a full cluster can take minutes. While it does, its answer carries white space every
few seconds, which JSON allows, so that a client can tell a busy cluster from one that is gone.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import orjson
from aiohttp import web

from kohort.cluster.errors import BadRequest, MethodNotAllowed
from kohort.cluster.objects import Object
from kohort.simulator.clock import SPEED_MAX, OwnClock, WallClock

CLOCK_PATH = "/kohort/clock"
STEP_SECONDS_MAX = 30 * 24 * 3600
SIGN_SECONDS = 5.0  # well within the time for which clients wait in silence
_JSON = "application/json"


class ClockPage:
    """The page of one clock: GET shows it, POST changes it, both answer with its state."""

    def __init__(
        self,
        clock: WallClock,
        leap: Callable[[float], Awaitable[None]],
        sign_seconds: float = SIGN_SECONDS,
    ) -> None:
        """Show a clock; ``leap`` lets so many simulated seconds pass at once."""
        self._clock = clock
        self._leap = leap
        self._sign_seconds = sign_seconds
        self._one_at_a_time = asyncio.Lock()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        if request.method == "POST":
            body = _decode(await request.read())
            if body.get("action") == "step":
                return await self._step(request, _number(body, "seconds", STEP_SECONDS_MAX))
            async with self._one_at_a_time:
                self._change(body)
        elif request.method != "GET":
            raise MethodNotAllowed("the clock can be read with GET and changed with POST")
        return web.Response(body=orjson.dumps(self._state()), content_type=_JSON)

    async def _step(self, request: web.BaseRequest, seconds: float) -> web.StreamResponse:
        """Answer when the seconds have passed, and give signs of life until then."""
        response = web.StreamResponse(headers={"Content-Type": _JSON})
        await response.prepare(request)
        leaping = asyncio.create_task(self._leap_alone(seconds))
        try:
            # The clock arrives at the end of the step though the client goes away meanwhile.
            with suppress(ConnectionError):
                while not (await asyncio.wait((leaping,), timeout=self._sign_seconds))[0]:
                    await response.write(b"\n")
            await leaping
        finally:
            leaping.cancel()
        with suppress(ConnectionError):
            await response.write(orjson.dumps(self._state()))
            await response.write_eof()
        return response

    async def _leap_alone(self, seconds: float) -> None:
        async with self._one_at_a_time:
            await self._leap(seconds)

    def _state(self) -> Object:
        clock = self._clock
        return {
            "now": clock.now().isoformat(timespec="seconds"),
            "elapsedSeconds": round(clock.elapsed(), 3),
            "speed": clock.speed,
            "isPaused": clock.is_paused,
            "isOwn": isinstance(clock, OwnClock),
        }

    def _change(self, body: Object) -> None:
        action = str(body.get("action"))
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


def _decode(raw: bytes) -> Object:
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    return body if isinstance(body, dict) else {}


def _number(body: Object, key: str, most: int) -> float:
    value: Any = body.get(key)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and 0 < value <= most:
        return float(value)
    raise BadRequest(f"{key} must be a number above 0 and up to {most}")
