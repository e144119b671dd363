"""
Calls of conversion webhooks, which turn an object of a custom kind into another version.

A webhook gets one object at a time, as from a real server, and as a real server does, this
one accepts only a result for the same object, whose metadata may differ only in labels and
annotations. Errors have the words of a real server, and its form: a failure without a reason.
"""

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from kohort.apiserver.admission.caller import (
    Caller,
    CallError,
    HttpsCaller,
    Unreachable,
    refuse_service,
)
from kohort.apiserver.admission.configuration import read_client
from kohort.apiserver.api.conversion import Said
from kohort.apiserver.resources.validation.metadata import validate_annotations, validate_labels
from kohort.apiserver.schemas.go_json import write_custom
from kohort.apiserver.schemas.limits import TOO_DEEP, is_too_deep
from kohort.cluster.errors import BareError
from kohort.cluster.fields import aggregate
from kohort.cluster.objects import Object

TIMEOUT_SECONDS = 30
REVIEW_VERSIONS = ("v1", "v1beta1")
_GROUP = "apiextensions.k8s.io"
_QUERY = f"?timeout={TIMEOUT_SECONDS}s"


class Conversions:
    """Calls conversion webhooks. Close it when it is no longer needed."""

    def __init__(
        self,
        new_uid: Callable[[], str],
        caller: Caller | None = None,
    ) -> None:
        self._new_uid = new_uid
        self._https = HttpsCaller()
        self._caller = caller or self._https

    async def close(self) -> None:
        """Close the connections to webhooks."""
        await self._https.close()

    async def ask(self, conversion: Object, obj: Object, api_version: str) -> Said:
        """The object in another version, or the ClusterError of a failed conversion."""
        webhook: Object = conversion.get("webhook") or {}
        versions = webhook.get("conversionReviewVersions") or ()
        version = next((v for v in versions if v in REVIEW_VERSIONS), "")
        if not version:
            raise BareError("no supported conversion review versions")
        who = f"conversion webhook for {obj['apiVersion']}, Kind={obj['kind']}"
        uid = self._new_uid()
        try:
            raw = await self._call(webhook, write_review(version, uid, obj, api_version))
            found = read_review(raw, version, uid)
        except CallError as error:
            raise BareError(f"{who} failed: {error}") from error
        if len(found) != 1:
            raise BareError(f"{who} returned {len(found)} objects, expected 1")
        try:
            return Said(read_converted(found[0], obj, api_version), len(raw))
        except CallError as error:
            raise BareError(f"{who} returned invalid {error}") from error

    async def _call(self, webhook: Object, body: bytes) -> bytes:
        client = read_client(webhook.get("clientConfig") or {})
        try:
            url = client.locate(refuse_service) + _QUERY
            return await self._caller(url, body, client.ca, client.server_name, TIMEOUT_SECONDS)
        except Unreachable as error:
            raise CallError(f'Post "{client.url}{_QUERY}": {error}') from error


def write_review(version: str, uid: str, obj: Object, api_version: str) -> bytes:
    """The ConversionReview to send to a webhook."""
    # The resourceVersion is set when an object is stored, so webhooks do not see one.
    metadata = {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}
    obj = {**obj, "metadata": metadata}
    request = {"uid": uid, "desiredAPIVersion": api_version}
    body = {
        "kind": "ConversionReview",
        "apiVersion": f"{_GROUP}/{version}",
        "request": {**request, "objects": [orjson.Fragment(write_custom(obj))]},
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }
    return orjson.dumps(body)


def read_review(raw: bytes, version: str, uid: str) -> list[Any]:
    """The objects in a webhook's response. Raises ``CallError``."""
    review = _read_json(raw)
    response = review.get("response")
    if version == "v1":
        _check_type(review)
    if not isinstance(response, dict):
        raise CallError("no response provided")
    given = response.get("uid", "")
    if version == "v1" and given != uid:
        raise CallError(f'expected response.uid="{uid}", got "{given}"')
    result = response.get("result")
    status: Object = result if isinstance(result, dict) else {}
    if status.get("status") != "Success":
        why = f"response.result.status was '{status.get('status', '')}', not 'Success'"
        raise CallError(str(status.get("message") or "") or why)
    found = response.get("convertedObjects")
    return found if isinstance(found, list) else []


def _read_json(raw: bytes) -> Object:
    why = "couldn't get version/kind; json parse error: "
    if is_too_deep(raw):
        raise CallError(f"{why}{TOO_DEEP}")
    try:
        review = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise CallError(f"{why}{error}") from error
    if isinstance(review, dict):
        return review
    into = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string '
    into += '"json:\\"kind,omitempty\\"" }'
    raise CallError(
        f"{why}json: cannot unmarshal {_name_json(review)} into Go value of type {into}"
    )


def _check_type(review: Object) -> None:
    version, kind = review.get("apiVersion", ""), review.get("kind", "")
    if not kind:
        raise CallError(f"Object 'Kind' is missing in '{orjson.dumps(review).decode()}'")
    if (version, kind) != (f"{_GROUP}/v1", "ConversionReview"):
        raise CallError(
            f'no kind "{kind}" is registered for version "{version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )


def read_converted(converted: Any, obj: Object, api_version: str) -> Object:
    """The converted object with the metadata of the original. Raises ``CallError``."""
    if not isinstance(converted, dict):
        raise CallError(f"object at index 0: it is no object but {_name_json(converted)}")
    for field, name in (("apiVersion", "groupVersion"), ("kind", "kind")):
        wanted = api_version if field == "apiVersion" else obj[field]
        given = converted.get(field, "")
        if given != wanted:
            why = f"invalid {name} (expected {wanted}, received {given})"
            raise CallError(f"object at index 0: {why}")
    metadata = converted.get("metadata")
    given_metadata: Object = metadata if isinstance(metadata, dict) else {}
    for field, name in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        had, has = obj["metadata"].get(field, ""), given_metadata.get(field, "")
        if had != has:
            raise CallError(f"object: must have the same {name}: {had} != {has}")
    if not isinstance(metadata, dict):
        raise CallError("metadata: missing metadata in converted object")
    return {**converted, "metadata": _restore_metadata(metadata, obj["metadata"])}


def _restore_metadata(given: Object, had: Object) -> Object:
    """The metadata of the original, with the labels and annotations of the conversion."""
    kept = {k: v for k, v in had.items() if k not in ("labels", "annotations")}
    for field in ("labels", "annotations"):
        texts = given.get(field)
        if texts is None:
            continue
        for why in _find_faults(field, texts, had.get(field) or {}):
            raise CallError(f"metadata: {why}")
        kept[field] = texts
    return kept


def _find_faults(field: str, texts: Any, had: Object) -> Iterator[str]:
    if not isinstance(texts, dict):
        yield f"invalid metadata.{field} of type {_name_go(texts)} in converted object"
        return
    for key, text in texts.items():
        if not isinstance(text, str):
            is_one = f"must be a string, but is {_name_go(text)} in converted object"
            yield f"metadata.{field}[{key}] {is_one}"
    if texts != had:
        check = validate_labels if field == "labels" else validate_annotations
        path = "metadata.labels" if field == "labels" else "metadata.annotation"
        if faults := check(texts, path):
            yield aggregate(faults)


def _name_go(value: Any) -> str:
    """The type of a JSON value, as Go names it."""
    if isinstance(value, bool):
        return "bool"
    names = {dict: "map[string]interface {}", list: "[]interface {}", int: "int64"}
    return {**names, float: "float64", str: "string"}.get(type(value), "<nil>")


def _name_json(value: Any) -> str:
    names = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}
    return names.get(type(value), "null")
