"""
Turns a response that is not a success into a ClusterError.

The HTTP code and the Status in the body agree on a real server. Something in
between, a proxy or a load balancer, answers in text or HTML: then the code
decides, and the beginning of the text is the message.
"""

import orjson

from kohort.cluster.errors import (
    AlreadyExists,
    BadRequest,
    ClusterError,
    Conflict,
    Forbidden,
    InternalError,
    Invalid,
    MethodNotAllowed,
    NotAcceptable,
    NotFound,
    TimedOut,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
    WatchExpired,
)
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Object

_TEXT_LENGTH_MAX = 500
_CLASSES: dict[int, type[ClusterError]] = {
    error.code: error
    for error in (
        BadRequest,
        Unauthorized,
        Forbidden,
        NotFound,
        MethodNotAllowed,
        NotAcceptable,
        Conflict,
        WatchExpired,
        TooLarge,
        UnsupportedMediaType,
        Invalid,
        TooManyRequests,
        InternalError,
        Unavailable,
        TimedOut,
    )
}
_RELATED = {408: TimedOut, 502: Unavailable}


def read_error(code: int, body: bytes, retry_after: str = "") -> ClusterError:
    """The error that an answer with this code and body stands for."""
    try:
        status = orjson.loads(body)
    except orjson.JSONDecodeError:
        status = None
    if not isinstance(status, dict) or status.get("kind") != "Status":
        text = body.decode(errors="replace").strip()[:_TEXT_LENGTH_MAX]
        status = {"message": text or f"the server answered with code {code}"}
    error = read_status(status, code)
    wait = find_whole(retry_after)
    if wait is not None and retry_after_seconds(error) is None:
        error.details = {**(error.details or {}), "retryAfterSeconds": wait}
    return error


def read_status(status: Object, code: int = 0) -> ClusterError:
    """The error that a Status object stands for."""
    given = status.get("code")
    code = code or (given if isinstance(given, int) and given else 500)
    reason = str(status.get("reason") or "")
    made = _choose(code, reason)
    error = made(str(status.get("message") or reason), details=status.get("details"))
    error.code = code
    error.reason = reason or made.reason
    return error


def _choose(code: int, reason: str) -> type[ClusterError]:
    if code == 409 and reason == AlreadyExists.reason:
        return AlreadyExists
    return _CLASSES.get(code) or _RELATED.get(code) or ClusterError


def retry_after_seconds(error: ClusterError) -> float | None:
    """How long the server asks to wait, if it says so."""
    seconds = (error.details or {}).get("retryAfterSeconds")
    return float(seconds) if isinstance(seconds, int | float) else None
