"""
Everything that can go wrong between us and a Kubernetes API.

    KohortError
      ClusterError            an answer that is not a success; carries a Status
        BadRequest            400
        Unauthorized          401
        Forbidden             403
        NotFound              404
        MethodNotAllowed      405
        NotAcceptable         406
        Conflict              409  another client wrote first, or a precondition failed
          AlreadyExists
        WatchExpired          410  the version asked for is too old
        TooLarge              413
        UnsupportedMediaType  415
        Invalid               422  with one cause for each field
        TooManyRequests       429
        InternalError         500
        Unavailable           503
        TimedOut              504

The message is what a person reads, so it is the whole sentence. ``details``
is what a program reads: name, group, kind, causes, retryAfterSeconds.
"""

from collections.abc import Sequence

from kohort.cluster.fields import FieldError, aggregate
from kohort.cluster.objects import Object


class KohortError(Exception):
    """The root of all errors that Kohort raises on purpose."""


class ClusterError(KohortError):
    """An answer of the API that is not a success."""

    code = 500
    reason = "InternalError"

    def __init__(self, message: str, *, details: Object | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.warnings: tuple[str, ...] = ()  # warnings that the response carries beside the error

    def status(self) -> Object:
        """The error as the Status object that the API answers with."""
        body: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        return {**body, "code": self.code}


class BadRequest(ClusterError):
    """The request makes no sense, whatever is stored."""

    code, reason = 400, "BadRequest"


class Unauthorized(ClusterError):
    """The server does not know which user sends the request."""

    code, reason = 401, "Unauthorized"


class Forbidden(ClusterError):
    """The user has no permission, or admission refuses the request."""

    code, reason = 403, "Forbidden"


class NotFound(ClusterError):
    """There is no such object, kind or path."""

    code, reason = 404, "NotFound"


class MethodNotAllowed(ClusterError):
    """The path exists, but not with this HTTP method."""

    code, reason = 405, "MethodNotAllowed"


class NotAcceptable(ClusterError):
    """The client's Accept header names no media type that the server can write."""

    code, reason = 406, "NotAcceptable"


class Conflict(ClusterError):
    """Another client wrote first, a precondition failed, or another manager owns a field."""

    code, reason = 409, "Conflict"


class AlreadyExists(Conflict):
    """An object of that name exists."""

    reason = "AlreadyExists"


class WatchExpired(ClusterError):
    """
    The client has to list again.

    The version that it asked for is older than the stored history or has not been given out yet,
    or the client reads so slowly that its events no longer fit.
    """

    code, reason = 410, "Expired"


class TooLarge(ClusterError):
    """The body is over the limit."""

    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(ClusterError):
    """The body has a media type that this request cannot take."""

    code, reason = 415, "UnsupportedMediaType"


class Invalid(ClusterError):
    """The object breaks a rule; each broken rule is a cause."""

    code, reason = 422, "Invalid"


class TooManyRequests(ClusterError):
    """The server limits requests: the client should try again later."""

    code, reason = 429, "TooManyRequests"


class InternalError(ClusterError):
    """The server failed because of a mistake of its own."""


class BareError(InternalError):
    """A failure that a real server reports without a reason."""

    reason = ""


class Unavailable(ClusterError):
    """The server cannot serve this now."""

    code, reason = 503, "ServiceUnavailable"


class TimedOut(ClusterError):
    """The server gave no answer in time."""

    code, reason = 504, "Timeout"


def not_found(plural: str, group: str, name: str) -> NotFound:
    """The NotFound error for an object that does not exist."""
    resource = f"{plural}.{group}" if group else plural
    return NotFound(f'{resource} "{name}" not found', details=_details(name, group, plural))


def already_exists(plural: str, group: str, name: str) -> AlreadyExists:
    """The AlreadyExists error for a create whose name is taken."""
    resource = f"{plural}.{group}" if group else plural
    return AlreadyExists(
        f'{resource} "{name}" already exists', details=_details(name, group, plural)
    )


def forbidden(plural: str, group: str, name: str, why: str) -> Forbidden:
    """The Forbidden error for a write that a rule of the cluster does not allow."""
    resource = f"{plural}.{group}" if group else plural
    return Forbidden(
        f'{resource} "{name}" is forbidden: {why}', details=_details(name, group, plural)
    )


def conflict(plural: str, group: str, name: str, why: str) -> Conflict:
    """The Conflict error for a write that another write came before."""
    resource = f"{plural}.{group}" if group else plural
    return Conflict(
        f'Operation cannot be fulfilled on {resource} "{name}": {why}',
        details=_details(name, group, plural),
    )


def invalid(kind: str, group: str, name: str, errors: Sequence[FieldError]) -> Invalid:
    """The Invalid error for an object that breaks rules, with one cause for each rule."""
    subject = f"{kind}.{group}" if group else kind
    details = _details(name, group, kind)
    details["causes"] = [error.cause() for error in errors]
    return Invalid(f'{subject} "{name}" is invalid: {aggregate(errors)}', details=details)


def _details(name: str, group: str, kind: str) -> Object:
    details: Object = {"name": name, "group": group, "kind": kind}
    return {key: value for key, value in details.items() if value}


def meets_another(error: KohortError) -> bool:
    """Whether a patch met another object of that name: the API server calls its uid invalid."""
    details = (error.details or {}) if isinstance(error, Invalid) else {}
    return any(cause.get("field") == "metadata.uid" for cause in details.get("causes") or ())
