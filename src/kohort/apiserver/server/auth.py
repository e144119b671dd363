"""
Authentication by one bearer token, compared in constant time.

There is one user, an administrator. Rules about roles are stored, not enforced.
"""

from hmac import compare_digest

from kohort.apiserver.api.requests import User
from kohort.cluster.errors import Unauthorized

ADMINISTRATOR = User("kohort-admin", ("system:masters", "system:authenticated"))


class TokenAuth:
    """Authenticates one token as one user."""

    def __init__(self, token: str, user: User = ADMINISTRATOR) -> None:
        self._expected = f"Bearer {token}".encode()
        self._user = user

    def find(self, token: str) -> User | None:
        """The user of a token; None if it is unknown."""
        sent = f"Bearer {token}".encode("utf-8", "surrogateescape")
        return self._user if compare_digest(sent, self._expected) else None

    def identify(self, header: str) -> User:
        """The user of the token in an Authorization header."""
        if not compare_digest(header.encode("utf-8", "surrogateescape"), self._expected):
            raise Unauthorized("Unauthorized")
        return self._user
