"""
Credentials: headers and client certificates by which the API server knows the user.

All kinds answer the same three questions: which headers, which certificate, and
whether another attempt makes sense after the server has answered 401.
"""

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from kohort.cluster.errors import KohortError
from kohort.cluster.http.access.tls import Pair

REREAD_SECONDS = 60.0


class Credentials(Protocol):
    """The interface of all credentials: headers, a client certificate, and renewal."""

    async def headers(self) -> dict[str, str]:
        """The headers for the next request; a new dictionary at each call."""

    def certificate(self) -> Pair | None:
        """The client certificate that belongs to the last headers, if there is one."""

    async def renew(self) -> bool:
        """Renew after a 401; returns whether another attempt is worthwhile."""

    async def close(self) -> None:
        """Release what the credentials hold open."""


class NoCredentials:
    """No headers: the user is anonymous, or has a client certificate in the kubeconfig."""

    async def headers(self) -> dict[str, str]:
        """No headers."""
        return {}

    def certificate(self) -> Pair | None:
        """No client certificate."""
        return None

    async def renew(self) -> bool:
        """Return false: another attempt would send the same request."""
        return False

    async def close(self) -> None:
        """Nothing is held."""


class Token(NoCredentials):
    """A token that never changes."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def headers(self) -> dict[str, str]:
        """The Authorization header with the token."""
        return bearer(self._token)


class Basic(NoCredentials):
    """Basic authentication: a user name and a password."""

    def __init__(self, name: str, password: str) -> None:
        self._text = base64.b64encode(f"{name}:{password}".encode()).decode()

    async def headers(self) -> dict[str, str]:
        """The Authorization header with name and password."""
        return {"Authorization": f"Basic {self._text}"}


class TokenFile(NoCredentials):
    """A token in a file that another process, such as the kubelet, keeps fresh."""

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._monotonic = monotonic
        self._token = ""
        self._read_at: float | None = None

    async def headers(self) -> dict[str, str]:
        """The Authorization header with the token, which is read again once a minute."""
        now = self._monotonic()
        if self._read_at is None or now - self._read_at >= REREAD_SECONDS:
            self._read()
            self._read_at = now
        return bearer(self._token)

    async def renew(self) -> bool:
        """Read the file now; returns whether it has another token."""
        before = self._token
        self._read()
        return self._token != before

    def _read(self) -> None:
        try:
            token = self.path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token:
                return  # The file may be in rotation, and the old token still valid.
            raise KohortError(f"cannot read the token file {self.path}: {error}") from error
        if not token and not self._token:
            raise KohortError(f"the token file {self.path} is empty")
        self._token = token or self._token


def bearer(token: str) -> dict[str, str]:
    """The Authorization header for a bearer token."""
    return {"Authorization": f"Bearer {token}"}
