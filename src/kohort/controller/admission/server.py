"""
The admission server: HTTP and TLS around the answers of the webhooks.

Only API servers call it, with small bodies, on connections that they keep. The server
reports every error inside a review, also a bug of ours: an API server shows its user the
message of a review, but nothing of a bare 500. Only an unknown path is a 404. One path
converts objects between versions, for all APIs.
"""

import logging
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import orjson
from aiohttp import web

from kohort.apis.api import Api, Settings, Webhook
from kohort.apis.conversion import (
    CONVERT_PATH,
    ConversionError,
    ConverterMistake,
    collect_converters,
)
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object
from kohort.cluster.port import Address
from kohort.controller.admission.answers import (
    answer_review,
    collect_webhooks,
    find_beside,
    find_uid,
    refuse_question,
)
from kohort.controller.admission.conversions import answer_conversion, fail_conversion

BODY_BYTES_MAX = 7 * 1024 * 1024
_STOP_SECONDS_MAX = 2.0
_KEEPALIVE_SECONDS = 3600.0

log = logging.getLogger(__name__)

# Called with the path, the HTTP code of the answer, and the seconds that it took.
Recorder = Callable[[str, int, float], None]
# Reads the object at an address, or all of a namespace if the address has no name.
Reader = Callable[[Address], Awaitable[Sequence[Object]]]


def _ignore(path: str, code: int, seconds: float) -> None:
    pass


class AdmissionServer:
    """Serves the webhooks of some APIs."""

    def __init__(
        self,
        apis: Sequence[Api],
        settings: Settings,
        record: Recorder = _ignore,
        read: Reader | None = None,
    ) -> None:
        self.port = 0
        self._webhooks = collect_webhooks(apis)
        self._converters = collect_converters(apis)
        self._settings = settings
        self._record = record
        self._read = read
        self._mistakes: set[tuple[str, str]] = set()
        self._runner: web.ServerRunner | None = None

    @property
    def is_serving(self) -> bool:
        """Whether the server listens."""
        return self._runner is not None

    async def start(self, tls: ssl.SSLContext, host: str = "", port: int = 0) -> None:
        """Listen; without a host on all addresses, and with port 0 on any free port."""
        server = web.Server(self._handle, access_log=None, keepalive_timeout=_KEEPALIVE_SECONDS)
        runner = web.ServerRunner(server, shutdown_timeout=_STOP_SECONDS_MAX)
        await runner.setup()
        try:
            site = web.TCPSite(runner, host or None, port, ssl_context=tls, backlog=1024)
            await site.start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Finish the running requests, then close."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        begun = time.monotonic()
        if request.path == CONVERT_PATH and self._converters:
            answer = self._convert(await _read_body(request))
            is_done = answer["response"]["result"]["status"] == "Success"
            self._record(request.path, 200 if is_done else 400, time.monotonic() - begun)
            return web.Response(body=orjson.dumps(answer), content_type="application/json")
        webhook = self._webhooks.get(request.path)
        if webhook is None:
            return web.Response(status=404, text="404 page not found\n")
        body = await _read_body(request)
        answer = (
            refuse_question(body) if isinstance(body, str) else await self._judge(webhook, body)
        )
        code = int(answer["response"]["status"]["code"])
        self._record(request.path, code, time.monotonic() - begun)
        return web.Response(body=orjson.dumps(answer), content_type="application/json")

    def _convert(self, review: Any) -> Object:
        if isinstance(review, str):
            return fail_conversion({}, review)
        try:
            return answer_conversion(self._converters, review)
        except ConversionError as error:
            if isinstance(error, ConverterMistake):
                self._log_mistake(CONVERT_PATH, error.__cause__ or error, {})
            return fail_conversion(review, str(error))

    def _log_mistake(self, path: str, error: BaseException, facts: Object) -> None:
        """Log a bug of ours once: a user could repeat the request and flood the log."""
        mistake = (path, type(error).__name__)
        if mistake not in self._mistakes:
            self._mistakes.add(mistake)
            log.error("cannot judge an object", exc_info=error, extra={"facts": facts})

    async def _judge(self, webhook: Webhook, review: Any) -> Object:
        try:
            settings = await self._look_beside(webhook, review)
            return answer_review(webhook, review, settings)
        except ClusterError as error:
            # The client that creates the object can try again; a wrong guess would be stored.
            why = f"{webhook.name} cannot read what this object depends on: {error}"
            return refuse_question(why, 500, find_uid(review))
        except Exception as error:
            self._log_mistake(webhook.path, error, _facts(review))
            why = f"{webhook.name} cannot judge this object ({type(error).__name__}): report it"
            return refuse_question(why, 500, find_uid(review))

    async def _look_beside(self, webhook: Webhook, review: Any) -> Settings:
        """The settings, with the other objects that the webhook needs for this review."""
        addresses = find_beside(webhook, review, self._settings)
        if not addresses or self._read is None:
            return self._settings
        found = [obj for address in addresses for obj in await self._read(address)]
        return replace(self._settings, beside=tuple(found))


def _facts(review: Any) -> Object:
    asked = {name: review["request"].get(name) for name in ("namespace", "name")}
    return {name: value for name, value in asked.items() if isinstance(value, str)}


async def _read_body(request: web.BaseRequest) -> Object | str:
    """The review in the body, or a sentence about what is wrong with the request."""
    if request.content_type != "application/json":
        return f"contentType={request.content_type}, expected application/json"
    if (request.content_length or 0) > BODY_BYTES_MAX:
        return f"request entity is too large; limit is {BODY_BYTES_MAX} bytes"
    raw = bytearray()
    async for chunk in request.content.iter_any():
        raw += chunk
        if len(raw) > BODY_BYTES_MAX:
            return f"request entity is too large; limit is {BODY_BYTES_MAX} bytes"
    try:
        review: Object = orjson.loads(bytes(raw))
    except orjson.JSONDecodeError as error:
        return f"the body is not JSON: {error}" if raw else "request body is empty"
    return review
