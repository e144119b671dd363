"""
This is where a conformance case meets a server: plain HTTPS requests and streams of events.

Nothing of Kohort is imported, so that the same requests go to a real API server.
"""

import http.client
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

AGENT = "conformance/1.0"


@dataclass(frozen=True, slots=True)
class Request:
    """One request, ready to be sent."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    anonymous: bool = False

    @property
    def address(self) -> str:
        """The path with its query."""
        return f"{self.path}?{urlencode(self.query, doseq=True)}" if self.query else self.path


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered."""

    code: int
    headers: http.client.HTTPMessage
    raw: bytes


class Client:
    """Speaks to one server as one user."""

    def __init__(self, url: str, ca: str, *, token: str = "", pair: tuple[str, str] | None = None):
        self._address = urlsplit(url).netloc
        self._anonymous = ssl.create_default_context(cafile=ca)
        self._context = ssl.create_default_context(cafile=ca)
        if pair:
            self._context.load_cert_chain(*pair)
        self._token = token
        self._kept: http.client.HTTPSConnection | None = None

    def send(self, request: Request) -> Reply:
        """The answer to one request."""
        if request.anonymous:
            return self._exchange(self._connect(request), request)
        if self._kept is None:
            self._kept = self._connect(request)
        try:
            return self._exchange(self._kept, request)
        except (http.client.HTTPException, OSError):
            # A kept connection may have been closed since; a fresh one decides.
            self._kept = self._connect(request)
            return self._exchange(self._kept, request)

    def watch(self, request: Request) -> tuple[Reply, Iterator[bytes]]:
        """An open stream of events, one in a line, on a connection of its own."""
        connection = self._connect(request)
        self._send(connection, request)
        answer = connection.getresponse()
        if answer.status != 200:
            return Reply(answer.status, answer.headers, answer.read()), iter(())
        return Reply(answer.status, answer.headers, b""), _events(connection, answer)

    def _connect(self, request: Request) -> http.client.HTTPSConnection:
        context = self._anonymous if request.anonymous else self._context
        return http.client.HTTPSConnection(self._address, context=context, timeout=30)

    def _send(self, connection: http.client.HTTPSConnection, request: Request) -> None:
        headers = {"User-Agent": AGENT, "Accept": "application/json", **request.headers}
        if self._token and not request.anonymous:
            headers["Authorization"] = f"Bearer {self._token}"
        connection.request(request.method, request.address, request.body, headers)

    def _exchange(self, connection: http.client.HTTPSConnection, request: Request) -> Reply:
        try:
            self._send(connection, request)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
            # A server may refuse a large body before it has read it.
            if len(request.body or b"") < 1 << 20:
                raise
        answer = connection.getresponse()
        return Reply(answer.status, answer.headers, answer.read())


def _events(connection: http.client.HTTPSConnection, answer: http.client.HTTPResponse) -> Any:
    try:
        yield from answer
    finally:
        connection.close()
