"""
A small client for a cluster on this machine, for commands and test fixtures.

Plain blocking HTTPS from the standard library. Its callers send a handful of
requests, and must not wait for a big library to be imported.
"""

import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

from kohort.cluster.errors import KohortError

_MERGE = "application/merge-patch+json"
_SECONDS_MAX = 30.0


class Unreachable(KohortError):
    """The cluster does not answer."""


class Refusal(KohortError):
    """The cluster refused the request; has the HTTP code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """A connection to one cluster."""

    def __init__(self, url: str, token: str, ca: str, seconds: float | None = None) -> None:
        address = urlsplit(url)
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": "kohort"}
        self._connection = http.client.HTTPSConnection(
            address.hostname or "",
            address.port,
            timeout=_SECONDS_MAX if seconds is None else seconds,
            context=ssl.create_default_context(cadata=ca),
        )

    def read(self, path: str) -> dict[str, Any]:
        """GET a path."""
        return self._call("GET", path)

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST an object to a path."""
        return self._call("POST", path, body)

    def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a JSON merge patch."""
        return self._call("PATCH", path, body, _MERGE)

    def delete(self, path: str) -> dict[str, Any]:
        """DELETE the object at a path."""
        return self._call("DELETE", path)

    def read_text(self, path: str) -> str:
        """GET a path whose answer is no JSON, such as a log."""
        return self._exchange("GET", path, None, "").decode(errors="replace")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body)
        answer = self._exchange(method, path, data, content_type)
        try:
            found: dict[str, Any] = json.loads(answer)
        except ValueError as error:
            self._connection.close()
            raise Unreachable(f"the cluster does not answer: {error}") from error
        return found

    def _exchange(self, method: str, path: str, data: str | None, content_type: str) -> bytes:
        headers = self._headers if data is None else {**self._headers, "Content-Type": content_type}
        try:
            self._connection.request(method, path, data, headers)
            response = self._connection.getresponse()
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise Unreachable(f"the cluster does not answer: {error}") from error
        if response.status >= 400:
            raise Refusal(response.status, _find_message(answer) or response.reason)
        return answer


def _find_message(answer: bytes) -> str:
    """The message of a refusal, if it is a Status."""
    try:
        found = json.loads(answer)
    except ValueError:
        return ""
    return str(found.get("message") or "") if isinstance(found, dict) else ""
