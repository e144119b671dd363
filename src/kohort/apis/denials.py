"""
How admission refuses an object: the Status that the client will see.

Upstream answers every refusal with 403 and all field errors as one text, and its
clients match on that. We answer with the same value over HTTPS and inside the
embedded cluster.

No rule refuses that an object in deletion loses a finalizer: a scale to few groups may have made
its spec one that breaks a rule, and the object would stay for ever.
"""

from kohort.apis.api import AdmissionResult, Settings, Webhook
from kohort.cluster.fields import aggregate
from kohort.cluster.objects import Object


def ask(webhook: Webhook, obj: Object, old: Object | None, settings: Settings) -> AdmissionResult:
    """The answer of a webhook to a create or an update."""
    metadata = obj.get("metadata")
    is_leaving = isinstance(metadata, dict) and bool(metadata.get("deletionTimestamp"))
    is_same = old is not None and obj.get("spec") == old.get("spec")
    if is_leaving and is_same and not webhook.mutates:
        return AdmissionResult()
    return webhook.handle(obj, old, settings)


def find_denial(answer: AdmissionResult) -> Object | None:
    """The Status of a refusal; None if admission accepts the object."""
    message = answer.refusal or (aggregate(answer.errors) if answer.errors else "")
    return write_denial(403, message, "Forbidden") if message else None


def write_denial(code: int, message: str, reason: str = "") -> Object:
    """A refusal as a Status."""
    status: Object = {"metadata": {}, "status": "Failure", "message": message, "code": code}
    return {**status, "reason": reason} if reason else status
