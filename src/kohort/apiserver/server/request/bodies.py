"""
Decodes request bodies in JSON, YAML or protobuf.

JSON is the usual form, YAML and protobuf are taken too. What comes out is a
dictionary with the kind that the path promises, or an error in the words of a
real server. Unknown and doubled fields are judged later, with the raw bytes.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from kohort.apiserver.api.requests import PatchBody, Target
from kohort.apiserver.protobuf.decode import MEDIA_TYPE as PROTOBUF
from kohort.apiserver.protobuf.decode import decode_body
from kohort.apiserver.schemas import strict
from kohort.apiserver.schemas.builtin import load_shape
from kohort.apiserver.schemas.limits import TOO_DEEP, is_too_deep
from kohort.apiserver.server.request.syntax_errors import (
    BadJson,
    BadNumber,
    BadYaml,
    explain_json,
    explain_type,
    name_type,
    show_body,
)
from kohort.cluster.errors import BadRequest, TooLarge, UnsupportedMediaType, invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object
from kohort.cluster.port import PatchType

BODY_BYTES_MAX = 3 * 1024 * 1024
JSON = "application/json"
YAML = "application/yaml"
_DIGITS_MAX = 400  # of a number's digits; longer ones fit no float either
_EXTENSIONS = "apiextensions.k8s.io"
_SCHEME = 'in scheme "pkg/runtime/scheme.go:111"'
_ACCEPTED = f"{JSON}, {YAML}, {PROTOBUF}"
_CUSTOM_PATCHES = (PatchType.JSON, PatchType.MERGE, PatchType.APPLY)

# The kinds of bodies that subresources take instead of the object.
_SUBRESOURCE_KINDS = {
    "scale": ("autoscaling/v1", "Scale"),
    "binding": ("v1", "Binding"),
    "eviction": ("policy/v1", "Eviction"),
    "token": ("authentication.k8s.io/v1", "TokenRequest"),
}

_REVIEWS = ("SelfSubjectAccessReview", "SelfSubjectRulesReview")
_PASSING = {*_SUBRESOURCE_KINDS.values(), *(("authorization.k8s.io/v1", k) for k in _REVIEWS)}


def media_type(header: str) -> str:
    """The media type of a Content-Type header, without its parameters."""
    return header.split(";", 1)[0].strip().lower()


def too_large() -> TooLarge:
    """The error for a body over the size limit."""
    return TooLarge(f"Request entity too large: limit is {BODY_BYTES_MAX}")


def load_yaml(raw: bytes) -> Any:
    """The value of a YAML text; raises BadYaml."""
    # Imported late: few requests are YAML, and a start should not wait for the library.
    from kohort.apiserver.server.request.yamls import load

    return load(raw)


@dataclass(frozen=True, slots=True)
class Body:
    """A decoded body, and its bytes if they are JSON, in which fields may be repeated."""

    obj: Object
    raw: bytes | None = None

    @property
    def name(self) -> str:
        """The name in the body; empty if the metadata is malformed."""
        metadata = self.obj.get("metadata")
        return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _load_json(raw: bytes) -> Any:
    """Parse JSON as Go does, which accepts more than the fast parser; raises BadJson."""
    if is_too_deep(raw):
        raise BadJson(TOO_DEEP)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if why := explain_json(raw):
            raise BadJson(why) from None
    text = raw.decode("utf-8", "replace")
    return _whole(json.loads(text, parse_int=_read_whole, parse_float=_read_float))


def _read_whole(text: str) -> int | float:
    return int(text) if len(text) <= _DIGITS_MAX else _read_float(text)


def _read_float(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise BadNumber(f"json: cannot unmarshal number {text} into Go value of type float64")


def _whole(value: Any) -> Any:
    """A value without lone surrogates in its strings."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return value


_IsServed = Callable[[str, str], bool]


def read_object(raw: bytes, header: str, target: Target, is_served: _IsServed) -> Body:
    """The object of a create or an update, with the kind that the path promises."""
    api_version, kind = _expected(target)
    media = media_type(header) or JSON
    if media == PROTOBUF:
        body = Body(_read_protobuf(raw, api_version, kind))
    else:
        obj = _decode_text(raw, media, kind)
        body = Body(obj, raw if media == JSON else None)
    _check_type(body.obj, raw, target, is_served)
    body = _with_type(body, api_version, kind)
    if (api_version, kind) in _PASSING:
        return Body(_read_passing(body.obj, api_version, kind))
    return body


def _read_passing(obj: Object, api_version: str, kind: str) -> Object:
    """An object that is never stored, such as a review, without unknown fields."""
    try:
        return strict.read_object(obj, load_shape(api_version, kind))[0]
    except strict.Unreadable as error:
        raise strict.refuse_unreadable(obj, kind, error) from None


def _with_type(body: Body, api_version: str, kind: str) -> Body:
    """Add missing apiVersion and kind to the object and to its text, for the check of repeats."""
    wanted = {"apiVersion": api_version, "kind": kind}
    missing = {name: value for name, value in wanted.items() if not body.obj.get(name)}
    if not missing:
        return body
    obj, raw = {**body.obj, **missing}, body.raw
    if any(name in body.obj for name in missing):
        raw = None  # The text has the field with an empty value, which must not count as a repeat.
    elif raw is not None:
        head: bytes = orjson.dumps(missing)
        raw = head[:-1] + b"," + raw.lstrip()[1:] if body.obj else head
    return Body(obj, raw)


def _expected(target: Target) -> tuple[str, str]:
    kind = target.resource.kind
    return _SUBRESOURCE_KINDS.get(target.subresource, (kind.api_version, kind.name))


def _read_protobuf(raw: bytes, api_version: str, kind: str) -> Object:
    if not raw.startswith(b"k8s\x00"):
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {kind}): provided data does not "
            f"appear to be a protobuf message, expected prefix [107 56 115 0] ({show_body(raw)})"
        )
    return decode_body(raw, api_version, kind)


def _decode_text(raw: bytes, media: str, kind: str) -> Object:
    """A JSON or YAML text as an object; the kind is part of the error if it is none."""
    unrecognized = f"the object provided is unrecognized (must be of type {kind}): "
    try:
        value = _load(raw, media)
    except BadNumber as error:
        raise BadRequest(f'{kind} in version "v1" cannot be handled as a {kind}: {error}') from None
    except BadJson as error:
        why = f"couldn't get version/kind; json parse error: {error}"
        raise BadRequest(f"{unrecognized}{why} ({show_body(raw)})") from None
    except BadYaml as error:
        raise BadRequest(f"{unrecognized}{error} ({show_body(raw)})") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequest(f"{unrecognized}{explain_type(value)} ({show_body(raw)})")
    return value


def _load(raw: bytes, media: str) -> Any:
    if media == JSON:
        return _load_json(raw)
    if media == YAML:
        return load_yaml(raw)
    raise UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        + _ACCEPTED
    )


def _check_type(obj: Object, raw: bytes, target: Target, is_served: _IsServed) -> None:
    """Refuse an object whose apiVersion or kind differs from the path's."""
    api_version, kind = _expected(target)
    given_version, given_kind = obj.get("apiVersion"), obj.get("kind")
    if given_version == api_version and given_kind == kind:
        return
    for field, value in (("apiVersion", given_version), ("kind", given_kind)):
        if value is not None and not isinstance(value, str):
            raise BadRequest(
                f"the object provided is unrecognized (must be of type {kind}): couldn't get "
                f"version/kind; json parse error: json: cannot unmarshal {name_type(value)} into "
                f"Go struct field .{field} of type string ({show_body(raw)})"
            )
    if target.resource.structural is not None and target.subresource != "scale":
        _check_custom(obj, raw, target)
        return
    given = given_version or api_version, given_kind or kind
    _check_builtin(given, raw, (api_version, kind), is_served)


def _check_custom(obj: Object, raw: bytes, target: Target) -> None:
    """Refuse a custom object without apiVersion or kind."""
    kind = target.resource.kind
    given_version, given_kind = obj.get("apiVersion") or "", obj.get("kind") or ""
    if not given_kind:
        shown = raw.decode("utf-8", "replace")
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {kind.name}): "
            f"Object 'Kind' is missing in '{shown}' ({show_body(raw)})"
        )
    if given_version != kind.api_version:
        raise BadRequest(
            f"the API version in the data ({given_version}) does not match the expected API "
            f"version ({kind.api_version})"
        )
    error = FieldError(FieldErrorType.INVALID, "kind", f"must be {kind.name}", given_kind)
    raise invalid(given_kind, kind.group, Body(obj).name, [error])


def _check_builtin(
    given: tuple[str, str], raw: bytes, expected: tuple[str, str], is_served: _IsServed
) -> None:
    if given == expected or (given[1], expected[1]) == ("Eviction", "Eviction"):
        return
    if given[0].count("/") > 1:
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {expected[1]}): unexpected "
            f"GroupVersion string: {given[0]} ({show_body(raw)})"
        )
    group, _, version = given[0].rpartition("/")
    if group == _EXTENSIONS and group == expected[0].partition("/")[0]:
        raise BadRequest(
            f"the API version in the data ({given[0]}) does not match the expected API version "
            f"({expected[0]})"
        )
    subject = f'{given[1]} in version "{version}" cannot be handled as a {expected[1]}: '
    if is_served(*given):
        snapshot = expected[0].rpartition("/")[0].split(".")[0] or "core"
        why = f"converting ({version}.{given[1]}) to ({snapshot}.{expected[1]}): unknown conversion"
    else:
        why = f'no kind "{given[1]}" is registered for version "{given[0]}" {_SCHEME}'
    raise BadRequest(subject + why)


def read_patch(raw: bytes, header: str, target: Target) -> PatchBody:
    """The patch of a request, by its media type."""
    form = patch_type(header, target)
    if form is PatchType.APPLY:
        return PatchBody(form, _read_apply(raw, target))
    prefix = "" if form is PatchType.STRATEGIC else "error decoding patch: "
    try:
        content = _load_json(raw)
    except BadJson as error:
        raise BadRequest(f"{prefix}{error}") from None
    if content is None and form is PatchType.MERGE:
        raise BadRequest("Invalid JSON Patch")
    if content is None:
        content = [] if form is PatchType.JSON else {}
    if not isinstance(content, list if form is PatchType.JSON else dict):
        wanted = "[]handlers.jsonPatchOp" if form is PatchType.JSON else "map[string]interface {}"
        raise BadRequest(
            f"{prefix}json: cannot unmarshal {name_type(content)} into Go value of type {wanted}"
        )
    return PatchBody(form, content)


def patch_type(header: str, target: Target) -> PatchType:
    """The type of a patch; custom kinds do not support strategic merge patches."""
    media = media_type(header)
    is_custom = target.resource.structural is not None
    known = _CUSTOM_PATCHES if is_custom else tuple(PatchType)
    for form in known:
        if form.value == media:
            return form
    if not is_custom:
        raise UnsupportedMediaType("415: Unsupported Media Type", details={})
    raise UnsupportedMediaType(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(form.value for form in known)
    )


def _read_apply(raw: bytes, target: Target) -> Object:
    try:
        content = load_yaml(raw)
    except BadYaml as error:
        why = f"error converting YAML to JSON: {error}"
        raise BadRequest(f"error decoding YAML: {why}") from None
    content = {} if content is None else content
    if not isinstance(content, dict):
        raise BadRequest(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot "
            f"unmarshal {name_type(content)} into Go value of type map[string]interface {{}}"
        )
    given = str(content.get("apiVersion") or ""), str(content.get("kind") or "")
    if given != _expected(target):
        group, _, version = given[0].rpartition("/")
        raise BadRequest(f"invalid object type: {group}/{version}, Kind={given[1]}")
    return content


def read_delete_body(raw: bytes, header: str) -> Object:
    """The options in the body of a deletion."""
    media = media_type(header) or JSON
    if media == PROTOBUF:
        return decode_body(raw, "v1", "DeleteOptions")
    try:
        value = _load(raw, media)
    except BadJson as error:
        why = f"couldn't get version/kind; json parse error: {error}"
        raise BadRequest(why) from None
    except BadYaml as error:
        raise BadRequest(str(error)) from None
    if not isinstance(value, dict | None):
        raise BadRequest(explain_type(value))
    body: Object = value or {}
    kind = body.get("kind") or "DeleteOptions"
    if kind != "DeleteOptions":
        version = body.get("apiVersion") or "v1"
        raise BadRequest(f'no kind "{kind}" is registered for version "{version}" {_SCHEME}')
    return body
