"""
The answer of a webhook: a pure function from one AdmissionReview to another.

The answer contains changes as a JSON patch against the object that was sent. A review that
cannot be understood is refused with 400, never with an exception: the API server must know
which webhook said no, and why. The depth of an object is bounded, since the user who creates
it chooses the depth, and all code that walks it recurses.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from kohort.apis.api import AdmissionResult, Api, Settings, Webhook
from kohort.apis.definitions.shapes import DEPTH_MAX, is_deeper
from kohort.apis.denials import ask, find_denial, write_denial
from kohort.cluster.objects import Object
from kohort.cluster.patches import to_json_patch
from kohort.cluster.port import Address

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"


def collect_webhooks(apis: Sequence[Api]) -> dict[str, Webhook]:
    """The webhooks of all APIs, by the URL path that API servers call."""
    return {webhook.path: webhook for api in apis for webhook in api.webhooks}


def answer_review(webhook: Webhook, review: Any, settings: Settings) -> Object:
    """The answer to one AdmissionReview."""
    request = review.get("request") if isinstance(review, Mapping) else None
    if not isinstance(request, Mapping):
        return _wrap("", _refuse(400, "the body is no AdmissionReview with a request"))
    uid = find_uid(review)
    if review.get("apiVersion") != API_VERSION:
        given = review.get("apiVersion")
        shown = repr(given) if isinstance(given, str | None) else "another type"
        return _wrap(uid, _refuse(400, f"expected {API_VERSION}, got {shown}"))
    return _wrap(uid, _answer(webhook, request, settings))


def find_beside(webhook: Webhook, review: Any, settings: Settings) -> tuple[Address, ...]:
    """The addresses to read before a review is answered; none if it cannot be understood."""
    request = review.get("request") if isinstance(review, Mapping) else None
    obj = request.get("object") if isinstance(request, Mapping) else None
    if not isinstance(request, Mapping) or not isinstance(obj, dict) or is_deeper(obj, DEPTH_MAX):
        return ()
    return webhook.find_beside(_fill_namespace(obj, request.get("namespace")), settings)


def refuse_question(why: str, code: int = 400, uid: str = "") -> Object:
    """The answer that refuses a review which is malformed or cannot be judged."""
    return _wrap(uid, _refuse(code, why))


def find_uid(review: Any) -> str:
    """The uid of a review's request; empty if it has none."""
    request = review.get("request") if isinstance(review, Mapping) else None
    uid = request.get("uid") if isinstance(request, Mapping) else None
    return uid if isinstance(uid, str) else ""


def _answer(webhook: Webhook, request: Mapping[str, Any], settings: Settings) -> Object:
    obj, old = request.get("object"), request.get("oldObject")
    if obj is None:
        return _allow()  # No object was sent: a deletion, which our webhooks never refuse.
    if not isinstance(obj, dict) or not isinstance(old, dict | None):
        return _refuse(400, "the object is no mapping")
    if is_deeper(obj, DEPTH_MAX) or is_deeper(old, DEPTH_MAX):
        return _refuse(400, f"the object is nested more than {DEPTH_MAX} levels deep")
    named = _fill_namespace(obj, request.get("namespace"))
    # The handler's result may share parts with its input, so the handler gets a copy.
    result = ask(webhook, orjson.loads(orjson.dumps(named)), old, settings)
    return _write(result, obj)


def _fill_namespace(obj: Object, namespace: Any) -> Object:
    metadata = obj.get("metadata")
    if (
        not namespace
        or not isinstance(namespace, str)
        or not isinstance(metadata, dict)
        or metadata.get("namespace")
    ):
        return obj
    return {**obj, "metadata": {**metadata, "namespace": namespace}}


def _write(result: AdmissionResult, sent: Object) -> Object:
    denial = find_denial(result)
    response = {"allowed": False, "status": denial} if denial is not None else _allow()
    if told := [*result.warnings, *result.notes]:
        response["warnings"] = told
    if denial is None and result.obj is not None and (patch := to_json_patch(sent, result.obj)):
        response["patchType"] = "JSONPatch"
        response["patch"] = b64encode(orjson.dumps(patch)).decode()
    return response


def _allow() -> Object:
    return {"allowed": True, "status": {"metadata": {}, "code": 200}}


def _refuse(code: int, message: str) -> Object:
    return {"allowed": False, "status": write_denial(code, message)}


def _wrap(uid: str, response: Object) -> Object:
    return {"apiVersion": API_VERSION, "kind": KIND, "response": {"uid": uid, **response}}
