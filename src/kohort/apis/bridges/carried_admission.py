"""
Admission of LeaderWorkerSets, where a ModelServing is one more possible carrier.

The API's own webhooks apply all other rules, to the set without this carrier. The carrier
of a set that has pods does not change unless the user allows these pods to be deleted.
"""

from dataclasses import replace

from kohort.apis.api import AdmissionResult, Settings, Webhook
from kohort.apis.leaderworkerset import labels
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object, annotations_of


def carry_webhooks(webhooks: tuple[Webhook, ...], carrier: str, force: str) -> tuple[Webhook, ...]:
    """The webhooks of the API, changed so that they accept this carrier."""
    return tuple(
        _carry(webhook, carrier, force) if webhook.kind == labels.KIND else webhook
        for webhook in webhooks
    )


def _carry(webhook: Webhook, carrier: str, force: str) -> Webhook:
    def handle(lws: Object, old: Object | None, settings: Settings) -> AdmissionResult:
        if not any(_has(obj, carrier) for obj in (lws, old or {})):
            return webhook.handle(lws, old, settings)
        if not webhook.mutates and (error := _find_switch(lws, old, carrier, force)):
            return AdmissionResult(errors=(error,))
        usual = replace(settings, carrier=labels.STATEFULSETS)
        plain = _strip(old, carrier) if old is not None else None
        answer = webhook.handle(_strip(lws, carrier), plain, usual)
        if answer.obj is None or not _has(lws, carrier):
            return answer
        return replace(answer, obj=_put(answer.obj, carrier))

    return replace(webhook, handle=handle)


def _find_switch(lws: Object, old: Object | None, carrier: str, force: str) -> FieldError | None:
    """Why the carrier of a set cannot change now; None if it stays or may change."""
    if old is None or _has(lws, carrier) == _has(old, carrier):
        return None
    status = old.get("status")
    has_pods = isinstance(status, dict) and bool(status.get("replicas"))
    if not has_pods or annotations_of(lws).get(force) == "true":
        return None
    why = (
        "the set has pods, and another carrier makes others: delete the set and make it anew, or "
        f'say {force}: "true" to let them go'
    )
    return FieldError(FieldErrorType.FORBIDDEN, f"metadata.annotations.{labels.CARRIER}", why)


def _has(obj: Object, carrier: str) -> bool:
    metadata = obj.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(notes, dict) and notes.get(labels.CARRIER) == carrier


def _strip(obj: Object, carrier: str) -> Object:
    if not _has(obj, carrier):
        return obj
    notes = {k: v for k, v in annotations_of(obj).items() if k != labels.CARRIER}
    return {**obj, "metadata": {**obj["metadata"], "annotations": notes}}


def _put(obj: Object, carrier: str) -> Object:
    notes = {**annotations_of(obj), labels.CARRIER: carrier}
    return {**obj, "metadata": {**obj["metadata"], "annotations": notes}}
