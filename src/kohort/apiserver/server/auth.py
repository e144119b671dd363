"""
Authentication by one bearer token, compared in constant time.

There is one user, an administrator. Rules about roles are stored, not enforced.
"""

from hmac import compare_digest

from kohort.apiserver.api.requests import User
from kohort.cluster.errors import Unauthorized

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
