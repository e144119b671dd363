"""
The HTTP handler of all requests: authentication, routing, and errors as Status.

One bearer token authenticates one user, an administrator; it is compared in constant time. Rules
about roles are stored, not enforced.

One handler takes all paths. Errors that the API raises on purpose become Status
answers; anything else is our own mistake and becomes a 500, written to the log
once, here and nowhere else.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime
from hmac import compare_digest
from typing import TYPE_CHECKING

from aiohttp import web

from kohort.apiserver.api.requests import User
from kohort.apiserver.schemas.limits import TOO_DEEP
from kohort.apiserver.server.answers import Call, write_error
from kohort.apiserver.server.documents import Documents
from kohort.apiserver.server.logs import Logs, NoLogs
from kohort.apiserver.server.request.bodies import too_large
from kohort.apiserver.server.request.negotiation import JSON, YAML, wants_indent
from kohort.apiserver.server.request.paths import ResourcePath, parse_path
from kohort.apiserver.server.request.queries import Caller, read_query
from kohort.apiserver.server.verbs import Verbs
from kohort.cluster.errors import BadRequest, ClusterError, InternalError, Unauthorized

if TYPE_CHECKING:
    from kohort.apiserver.api.api import ApiServer

log = logging.getLogger(__name__)

Page = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
ADMINISTRATOR = User("kohort-admin", ("system:masters", "system:authenticated"))


class TokenAuth:
    """Authenticates one token as the administrator."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    def find(self, token: str) -> User | None:
        """The user of a token; None if it is unknown."""
        sent = f"Bearer {token}".encode("utf-8", "surrogateescape")
        return ADMINISTRATOR if compare_digest(sent, self._expected) else None

    def identify(self, header: str) -> User:
        """The user of the token in an Authorization header."""
        if not compare_digest(header.encode("utf-8", "surrogateescape"), self._expected):
            raise Unauthorized("Unauthorized")
        return ADMINISTRATOR


def _now() -> datetime:
    return datetime.now(UTC)


def _always() -> bool:
    return True


class App:
    """The HTTP handler of one API."""

    def __init__(
        self, auth: TokenAuth, verbs: Verbs, documents: Documents, extra: Mapping[str, Page]
    ) -> None:
        self._auth = auth
        self._verbs = verbs
        self._documents = documents
        self._extra = extra
        self._date: Callable[[], datetime] | None = None

    def stop_streams(self) -> None:
        """End all watches and followed logs, so that connections can close."""
        self._verbs.streams.stop()

    def delay_events(self) -> None:
        """Send watch events of a write only after its response."""
        self._verbs.streams.late_events = True

    def tell_date(self, clock: Callable[[], datetime]) -> None:
        """Take the Date header of answers, except streams, from this clock, not the wall clock."""
        self._date = clock

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request; every exception becomes a Status."""
        response = await self._answer_always(request)
        if self._date is not None and not response.prepared:
            response.headers["Date"] = format_datetime(self._date(), usegmt=True)
        return response

    async def _answer_always(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._answer(request)
        except ClusterError as error:
            return _refuse(request, error)
        except web.HTTPRequestEntityTooLarge:
            return _refuse(request, too_large())
        except ConnectionError:
            raise
        except RecursionError:
            return _refuse(request, BadRequest(TOO_DEEP))
        except Exception as error:
            log.exception("%s %s failed", request.method, request.path)
            why = f"{type(error).__name__}: {error}"
            details = {"causes": [{"message": why}]}
            return _refuse(
                request, InternalError(f"Internal error occurred: {why}", details=details)
            )

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = request.headers
        user = self._auth.identify(headers.get("Authorization", ""))
        path, _, query = request.raw_path.partition("?")
        if page := self._extra.get(path):
            return await page(request)
        caller = Caller(user, headers.get("User-Agent", ""))
        call = Call(request, read_query(query), caller)
        found = parse_path(path)
        if isinstance(found, ResourcePath):
            return await self._verbs.answer(call, found)
        return await self._documents.answer(call, found)


def _refuse(request: web.BaseRequest, error: ClusterError) -> web.Response:
    accept = request.headers.get("Accept", "")
    media = YAML if accept.startswith(YAML) else JSON
    pretty = read_query(request.query_string).get("pretty")
    agent = request.headers.get("User-Agent", "")
    return write_error(error, media, is_indented=wants_indent(pretty[0] if pretty else None, agent))


def create_app(
    api: "ApiServer",
    auth: TokenAuth,
    *,
    logs: Logs | None = None,
    is_ready: Callable[[], bool] = _always,
    clock: Callable[[], datetime] = _now,
    extra: Mapping[str, Page] | None = None,
) -> App:
    """The aiohttp application of an API.

    ``extra`` are pages that no Kubernetes API has, by path, behind the same token.
    """
    api.find_user = auth.find
    verbs = Verbs(api, logs or NoLogs(), clock)
    return App(auth, verbs, Documents(api.registry, is_ready), extra or {})
