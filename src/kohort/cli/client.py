"""
This is where commands talk to a running cluster.

Plain blocking HTTPS from the standard library: these commands send a handful of
requests, and must not wait for a big library to be imported.
"""

import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

from kohort.cli.exits import Failure
from kohort.cli.state import State

MERGE = "application/merge-patch+json"
_SECONDS_MAX = 30.0


class Refusal(Failure):
    """The cluster said no; carries the HTTP code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """A connection to one running cluster."""

    def __init__(self, name: str) -> None:
        control = State(name).expect_control()
        address = urlsplit(control["url"])
        context = ssl.create_default_context(cadata=control["ca"])
        self.gpus_per_node: int = control["gpusPerNode"]
        self._headers = {"Authorization": f"Bearer {control['token']}", "User-Agent": "kohort"}
        self._connection = http.client.HTTPSConnection(
            address.hostname or "", address.port, timeout=_SECONDS_MAX, context=context
        )

    def read(self, path: str) -> dict[str, Any]:
        """GET a path."""
        return self._call("GET", path, None, "application/json")

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST an object to a path."""
        return self._call("POST", path, body, "application/json")

    def patch(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a JSON merge patch."""
        return self._call("PATCH", path, body, MERGE)

    def _call(
        self, method: str, path: str, body: dict[str, Any] | None, content_type: str
    ) -> dict[str, Any]:
        headers = {**self._headers, "Content-Type": content_type}
        data = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, data, headers)
            response = self._connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Failure(f"the cluster does not answer: {error}") from error
        if response.status >= 400:
            raise Refusal(response.status, answer.get("message", response.reason))
        return answer
