"""
How admission refuses an object: the Status that the client will see.

Upstream answers every refusal with 403 and all field errors as one text, and its
clients match on that. We answer with the same value over HTTPS and inside the
embedded cluster.
"""

from kohort.apis.api import AdmissionResult
from kohort.cluster.fields import aggregate
from kohort.cluster.objects import Object


def find_denial(answer: AdmissionResult) -> Object | None:
    """The Status of a refusal; None if admission accepts the object."""
    message = answer.refusal or (aggregate(answer.errors) if answer.errors else "")
    return write_denial(403, message, "Forbidden") if message else None


def write_denial(code: int, message: str, reason: str = "") -> Object:
    """A refusal as a Status."""
    status: Object = {"metadata": {}, "status": "Failure", "message": message, "code": code}
    return {**status, "reason": reason} if reason else status
