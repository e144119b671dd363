"""
Which failed requests the client sends again, and after how long.

A read may always be repeated. A write is repeated only when it has certainly not
been applied: the connection was never made, or the server turned it away with
429 before it read it. If the server asks for a wait of more than some seconds, the
caller gets the error at once instead of waiting.
"""

from random import Random

from kohort.cluster.errors import (
    ClusterError,
    InternalError,
    TimedOut,
    TooManyRequests,
    Unavailable,
)
from kohort.cluster.http.answers import retry_after_seconds

ATTEMPTS_MAX = 4
WAIT_SECONDS_MAX = 10.0
_BACKOFF_SECONDS = 0.1


class NotSent(Unavailable):
    """The connection failed before the server received the request."""


def find_retry_delay(
    method: str, error: ClusterError, attempt: int, chance: Random
) -> float | None:
    """Seconds until the next attempt; None when there is none. The first attempt is 1."""
    if attempt >= ATTEMPTS_MAX or not _may_repeat(method, error):
        return None
    asked = retry_after_seconds(error)
    if asked is not None:
        return None if asked > WAIT_SECONDS_MAX else asked * chance.uniform(1.0, 1.1)
    return _BACKOFF_SECONDS * float(2**attempt) * chance.uniform(0.5, 1.0)


def _may_repeat(method: str, error: ClusterError) -> bool:
    if isinstance(error, TooManyRequests | NotSent):
        return True
    if method != "GET":
        return False
    if isinstance(error, InternalError | TimedOut):
        return retry_after_seconds(error) is not None
    return isinstance(error, Unavailable)
