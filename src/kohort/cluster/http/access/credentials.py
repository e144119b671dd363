"""
Credentials: what is put on each request so that the server knows who asks.

All kinds answer the same three questions: which headers, which certificate, and
whether asking again makes sense after the server said 401.
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
    """Something that proves who we are."""

    async def headers(self) -> dict[str, str]:
        """What to send with the next request; a new dictionary each time."""

    def certificate(self) -> Pair | None:
        """A client certificate that came with the last headers."""

    async def renew(self) -> bool:
        """The server did not know us: whether there is something else to try."""

    async def close(self) -> None:
        """Let go of everything."""


class NoCredentials:
    """Nothing to say; perhaps the certificate says it all."""

    async def headers(self) -> dict[str, str]:
        """Nothing."""
        return {}

    def certificate(self) -> Pair | None:
        """None."""
        return None

    async def renew(self) -> bool:
        """There is nothing else to try."""
        return False

    async def close(self) -> None:
        """Nothing is held."""


class Token(NoCredentials):
    """A token that never changes."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def headers(self) -> dict[str, str]:
        """The token."""
        return bearer(self._token)


class Basic(NoCredentials):
    """A name and a password."""

    def __init__(self, name: str, password: str) -> None:
        self._text = base64.b64encode(f"{name}:{password}".encode()).decode()

    async def headers(self) -> dict[str, str]:
        """The name and the password."""
        return {"Authorization": f"Basic {self._text}"}


class TokenFile(NoCredentials):
    """A token in a file that somebody else keeps fresh."""

    def __init__(self, path: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._monotonic = monotonic
        self._token = ""
        self._read_at: float | None = None

    async def headers(self) -> dict[str, str]:
        """The token, read again once a minute."""
        now = self._monotonic()
        if self._read_at is None or now - self._read_at >= REREAD_SECONDS:
            self._read()
            self._read_at = now
        return bearer(self._token)

    async def renew(self) -> bool:
        """Read the file at once; another token is worth another attempt."""
        before = self._token
        self._read()
        return self._token != before

    def _read(self) -> None:
        try:
            token = self.path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token:
                return  # A file in the middle of its rotation: what we have may still do.
            raise KohortError(f"cannot read the token file {self.path}: {error}") from error
        if not token and not self._token:
            raise KohortError(f"the token file {self.path} is empty")
        self._token = token or self._token


def bearer(token: str) -> dict[str, str]:
    """The header that carries a token."""
    return {"Authorization": f"Bearer {token}"}
