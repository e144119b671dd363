"""
AdmissionReviews: the request to a webhook, and its response.

On a create, a real server calls the mutating webhooks before it gives the object a
uid, a time, a generation and a generated name. This server has set these fields by
then, so it hides them from mutating webhooks and puts them back afterwards.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass, replace
from typing import Any

import orjson

from kohort.apiserver.admission.caller import CallError
from kohort.apiserver.api.admission import Review
from kohort.apiserver.api.context import write
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.schemas.limits import TOO_DEEP, is_too_deep
from kohort.cluster.errors import BadRequest, ClusterError
from kohort.cluster.objects import Object, encode_json

_GROUP = "admission.k8s.io"
_ASSIGNED = ("uid", "creationTimestamp", "generation")
_SUFFIX_LENGTH = 5
_SUFFIX_ALPHABET = frozenset("bcdfghjklmnpqrstvwxz2456789")
_PREFIX_MAX = 58
_HEAD = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """A webhook's response to a write."""

    is_allowed: bool
    warnings: tuple[str, ...]
    status: Object
    patch: list[Object]


class Denied(ClusterError):
    """A webhook refused the write, with a code and a reason of its own."""

    def __init__(self, webhook: str, status: Object) -> None:
        said = f'admission webhook "{webhook}" denied the request'
        why = status.get("message") or status.get("reason")
        message = f"{said}: {why}" if why else f"{said} without explanation"
        super().__init__(message, details=status.get("details"))
        code = status.get("code") or 0
        self.code = code if 400 <= code < 600 else 400 if code < 400 else 500
        self.reason = status.get("reason") or ""


def hide_assigned(review: Review) -> Review:
    """The review without metadata that the server assigned; shares its list of warnings."""
    if review.operation != "CREATE" or review.obj is None or review.target.subresource:
        return review
    hidden = {*_ASSIGNED}
    if _has_generated_name(review.obj["metadata"]):
        hidden.add("name")
    kept = {k: v for k, v in review.obj["metadata"].items() if k not in hidden}
    return replace(review, obj={**review.obj, "metadata": kept})


def _has_generated_name(metadata: Object) -> bool:
    """Whether the server generated the name: a StatefulSet's pods have generateName and a name."""
    prefix, name = metadata.get("generateName") or "", metadata.get("name") or ""
    begin, suffix = name[:-_SUFFIX_LENGTH], name[-_SUFFIX_LENGTH:]
    is_random = bool(begin) and set(suffix) <= _SUFFIX_ALPHABET
    return is_random and begin == prefix[:_PREFIX_MAX]


def put_back_assigned(obj: Object, before: Object, namespace: str) -> Object:
    """The object as webhooks left it, with the metadata that the server had assigned."""
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    if metadata.get("namespace", namespace) != namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    assigned = {k: v for k, v in before["metadata"].items() if k in _ASSIGNED}
    name = metadata.get("name") or before["metadata"]["name"]
    return {**obj, "metadata": {**metadata, **assigned, "name": name}}


def write_request(uid: str, form: Resource, review: Review) -> Object:
    """The request part of an AdmissionReview, without the objects."""
    target = review.target
    is_namespace = target.resource.kind.group_resource == "namespaces"
    request: Object = {
        "uid": uid,
        "kind": _kind_of(form, review),
        "resource": _resource_of(form),
        "subResource": target.subresource,
        "requestKind": _kind_of(target.resource, review),
        "requestResource": _resource_of(target.resource),
        "requestSubResource": target.subresource,
        "name": _name_of(review),
        "namespace": target.name if is_namespace else target.namespace,
        "operation": review.operation,
        "userInfo": {"username": review.user.name, "groups": list(review.user.groups)},
        "dryRun": review.dry_run,
        "options": _options_of(review),
    }
    return {key: value for key, value in request.items() if value != ""}


def _name_of(review: Review) -> str:
    if review.operation == "CREATE" and review.obj is not None and not review.target.subresource:
        return str(review.obj["metadata"].get("name") or "")
    return review.target.name


def _kind_of(form: Resource, review: Review) -> Object:
    """The kind of the object in this version. Subresources may have a kind of their own."""
    obj = review.obj or review.old or {}
    if review.target.subresource and obj.get("kind", form.kind.name) != form.kind.name:
        group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
        return {"group": group, "version": version, "kind": obj["kind"]}
    return {"group": form.kind.group, "version": form.kind.version, "kind": form.kind.name}


def _resource_of(form: Resource) -> Object:
    kind = form.kind
    return {"group": kind.group, "version": kind.version, "resource": kind.plural}


def _options_of(review: Review) -> Object:
    kind = f"{review.operation.title()}Options"
    options: Object = {"kind": kind, "apiVersion": "meta.k8s.io/v1"}
    return {**options, "dryRun": ["All"]} if review.dry_run else options


def write_review(
    version: str, request: Object, form: Resource, obj: Object | None, old: Object | None
) -> bytes:
    """The request body for a webhook."""
    options = request.pop("options")
    dry_run = request.pop("dryRun")
    objects = {"object": _write(form, obj), "oldObject": _write(form, old)}
    return encode_json(
        {
            "kind": "AdmissionReview",
            "apiVersion": f"{_GROUP}/{version}",
            "request": {**request, **objects, "dryRun": dry_run, "options": options},
        }
    )


def _write(form: Resource, obj: Object | None) -> orjson.Fragment | None:
    return None if obj is None else orjson.Fragment(write(form, obj))


def read_verdict(raw: bytes, version: str, uid: str, *, may_change: bool) -> WebhookAnswer:
    """Read a webhook's response. Raises ``CallError`` if it does not belong to the request."""
    body = _read_body(raw)
    response = _typed(body, "response", dict, "AdmissionReview.response")
    if response is None:
        raise _invalid("webhook response was absent")
    path = "AdmissionResponse.response"
    found = {
        field: _typed(response, field, kind, f"{path}.{field}")
        for field, kind in (
            ("uid", str),
            ("allowed", bool),
            ("patch", str),
            ("patchType", str),
            ("status", dict),
            ("warnings", list),
        )
    }
    if version == "v1":
        _check_identity(body, found["uid"] or "", uid)
        _check_patch(found["patch"], found["patchType"], may_change=may_change)
    patch = _read_patch(found["patch"] or "") if may_change else []
    if patch and version == "v1" and found["patchType"] != "JSONPatch":
        raise CallError(f'unsupported patch type "{found["patchType"]}"')
    _check_status(found["status"] or {})
    warnings = tuple(str(warning) for warning in found["warnings"] or ())
    return WebhookAnswer(bool(found["allowed"]), warnings, found["status"] or {}, patch)


def _check_status(status: Object) -> None:
    for field, kind in (("code", int), ("message", str), ("reason", str), ("details", dict)):
        _typed(status, field, kind, f"Status.response.status.{field}")


def _read_body(raw: bytes) -> Object:
    if is_too_deep(raw):
        raise _unreadable(f"couldn't get version/kind; json parse error: {TOO_DEEP}")
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise _unreadable(f"couldn't get version/kind; json parse error: {error}") from error
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise _unreadable(
            "couldn't get version/kind; json parse error: "
            f"json: cannot unmarshal {_name_type(body)} into Go value of type {_HEAD}"
        )
    return body


def _typed(parent: Object, field: str, kind: type, path: str) -> Any:
    value = parent.get(field)
    if value is None or isinstance(value, kind):
        return value
    names = {str: "string", bool: "bool", list: "[]string", int: "int32"}
    wanted = names.get(kind, "object")
    raise _unreadable(
        f"json: cannot unmarshal {_name_type(value)} into Go struct field {path} of type {wanted}"
    )


def _name_type(value: Any) -> str:
    return {dict: "object", list: "array", str: "string", bool: "bool"}.get(type(value), "number")


def _check_identity(body: Object, answered: str, uid: str) -> None:
    if answered != uid:
        raise _invalid(f'expected response.uid="{uid}", got "{answered}"')
    api_version, kind = body.get("apiVersion") or "", body.get("kind") or ""
    if (api_version, kind) != (f"{_GROUP}/v1", "AdmissionReview"):
        shown = f"{api_version or '/'}, Kind={kind}"
        raise _invalid(
            f"expected webhook response of {_GROUP}/v1, Kind=AdmissionReview, got {shown}"
        )


def _check_patch(patch: str | None, patch_type: str | None, *, may_change: bool) -> None:
    if not may_change:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if patch_type is not None:
            raise _invalid("validating webhook may not return response.patchType")
    elif patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    elif not patch and patch_type is not None:
        raise _invalid("webhook returned response.patchType but not response.patch")
    elif patch_type == "":
        raise _invalid('webhook returned invalid response.patchType of ""')


def _read_patch(encoded: str) -> list[Object]:
    if not encoded:
        return []
    try:
        text = b64decode(encoded, validate=True)
    except Base64Error as error:
        raise _unreadable("illegal base64 data at input byte 0") from error
    problem = "received undecodable patch in webhook response: "
    if is_too_deep(text):
        raise CallError(f"{problem}{TOO_DEEP}")
    try:
        operations = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise CallError(f"{problem}{error}") from error
    if operations is None:
        return []
    if not isinstance(operations, list):
        raise CallError(f"{problem}{_mistyped(operations, 'Patch')}")
    for operation in operations:
        if not isinstance(operation, dict):
            raise CallError(f"{problem}{_mistyped(operation, 'Operation')}")
    return operations


def _mistyped(value: Any, wanted: str) -> str:
    return f"json: cannot unmarshal {_name_type(value)} into Go value of type jsonpatch.{wanted}"


def _invalid(why: str) -> CallError:
    return CallError(f"received invalid webhook response: {why}")


def _unreadable(why: str) -> CallError:
    return CallError(f"failed to call webhook: {why}")
