"""
Where a request says who it is: a bearer token, compared without telling how far it matched.

There is one user, an administrator. Rules about roles are stored, not enforced.
"""

from hmac import compare_digest

from kohort.cluster.errors import Unauthorized
from kohort.simulator.api.requests import User

ADMINISTRATOR = User("kohort-admin", ("system:masters", "system:authenticated"))


class TokenAuth:
    """Knows one token, and the user who holds it."""

    def __init__(self, token: str, user: User = ADMINISTRATOR) -> None:
        self._expected = f"Bearer {token}".encode()
        self._user = user

    def find(self, token: str) -> User | None:
        """The user whose token this is."""
        sent = f"Bearer {token}".encode("utf-8", "surrogateescape")
        return self._user if compare_digest(sent, self._expected) else None

    def identify(self, header: str) -> User:
        """The user whose token stands in an Authorization header."""
        if not compare_digest(header.encode("utf-8", "surrogateescape"), self._expected):
            raise Unauthorized("Unauthorized")
        return self._user
