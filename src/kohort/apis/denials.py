"""
How a verdict of admission is refused: the Status that the one who asked will see.

Upstream answers every refusal with 403 and all field errors as one text, and its
clients match on that. Both ways to ask us, over HTTPS and inside the embedded
cluster, answer with this same value.
"""

from kohort.apis.api import AdmissionResult
from kohort.cluster.fields import aggregate
from kohort.cluster.objects import Object


def find_denial(answer: AdmissionResult) -> Object | None:
    """The Status of a refusal; None if the verdict lets the object pass."""
    message = answer.refusal or (aggregate(answer.errors) if answer.errors else "")
    return write_denial(403, message, "Forbidden") if message else None


def write_denial(code: int, message: str, reason: str = "") -> Object:
    """A refusal as a Status."""
    status: Object = {"metadata": {}, "status": "Failure", "message": message, "code": code}
    return {**status, "reason": reason} if reason else status
