"""
Reads of one object, or of a page of a list at one version.

A page that is continued shows the state of the first page, however much was
written meanwhile, or says that this state is no longer known.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import orjson

from kohort.apiserver.api.context import Context, encode, learn
from kohort.apiserver.api.requests import ListOptions, Page, Target
from kohort.apiserver.resources.resource import Resource
from kohort.apiserver.store.entries import StoredObject
from kohort.apiserver.store.spans import Span
from kohort.cluster.errors import BadRequest, TimedOut, WatchExpired
from kohort.cluster.fields import show
from kohort.cluster.numbers import explain_whole, find_whole

_TOKEN_VERSION = "meta.k8s.io/v1"
_CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


def list_page(context: Context, target: Target, options: ListOptions) -> Page:
    """The selected objects, up to the limit."""
    found, version = _find(context, target, options)
    entries, page = _cut(target.resource, found, version, options)
    return _fill(target.resource, entries, page)


async def fetch_page(context: Context, target: Target, options: ListOptions) -> Page:
    """As ``list_page``, but calls the conversion webhook for objects that need it."""
    resource = target.resource
    if resource.conversion is None:
        return list_page(context, target, options)
    found, version = _find(context, target, options)
    objects = list(found)
    if _is_selective(options):
        # The fields of a selector may differ from version to version.
        await learn(resource, objects)
    entries, page = _cut(resource, objects, version, options)
    await learn(resource, entries)
    return _fill(resource, entries, page)


def _cut(
    resource: Resource, found: Span | list[StoredObject], version: int, options: ListOptions
) -> tuple[list[StoredObject], Page]:
    """Cut the entries to one page; returns them and the page's metadata."""
    chosen = _choose(resource, found, options)
    entries = list(islice(chosen, options.limit) if options.limit else chosen)
    if not options.limit or next(chosen, None) is None:
        return entries, Page([], str(version), "", None)
    remaining = None if _is_selective(options) else len(found) - len(entries)
    return entries, Page([], str(version), _token(version, entries[-1]), remaining)


def _fill(resource: Resource, entries: list[StoredObject], page: Page) -> Page:
    strip = item_prefix(resource)
    return replace(page, items=[encode_item(resource, entry, strip) for entry in entries])


def list_entries(
    context: Context, target: Target, options: ListOptions
) -> tuple[list[StoredObject], int]:
    """All selected entries, without a limit, and their version."""
    found, version = _find(context, target, options)
    return list(_choose(target.resource, found, options)), version


async def fetch_entries(
    context: Context, target: Target, options: ListOptions
) -> list[StoredObject]:
    """The selected entries, after the conversions that their display needs."""
    found, _ = _find(context, target, options)
    entries = list(found)
    await learn(target.resource, entries)
    return list(_choose(target.resource, entries, options))


def _is_selective(options: ListOptions) -> bool:
    return bool(options.labels.requirements or options.fields.clauses)


def _find(context: Context, target: Target, options: ListOptions) -> tuple[Span, int]:
    check_fields(target.resource, options)
    version, after = _where(context, options)
    namespace = target.namespace if target.namespace else None
    try:
        return context.store.at(target.resource.bucket, version, namespace, after), version
    except WatchExpired:
        if after is None:
            raise WatchExpired(
                f"The resourceVersion for the provided list is too old: {version}"
            ) from None
        raise WatchExpired(_CONTINUE_EXPIRED) from None


def _choose(
    resource: Resource, found: Iterable[StoredObject], options: ListOptions
) -> Iterator[StoredObject]:
    if not _is_selective(options):
        return iter(found)
    labels, fields, conversion = options.labels, options.fields, resource.conversion
    if conversion is None:
        return (e for e in found if labels.matches(e.labels) and fields.matches(e.fields))
    pairs = ((entry, conversion.seen(entry)) for entry in found)
    return (e for e, seen in pairs if labels.matches(seen.labels) and fields.matches(seen.fields))


def check_fields(resource: Resource, options: ListOptions) -> None:
    """Raise for a field selector that the kind does not support."""
    known = {"metadata.name", *resource.fields}
    if resource.kind.namespaced:
        known.add("metadata.namespace")
    for field, _, _ in options.fields.clauses:
        if field not in known:
            what = f"field label not supported: {field}"
            if not resource.fields:
                what = f'"{field}" is not a known field selector: only {_shown(known)}'
            raise BadRequest(what)


def _shown(known: set[str]) -> str:
    return ", ".join(show(field) for field in sorted(known))


def _where(context: Context, options: ListOptions) -> tuple[int, tuple[str, str] | None]:
    if options.continue_from:
        return _read_token(options.continue_from)
    version = read_version(options.resource_version)
    if version > context.store.revision:
        raise too_new(version, context.store.revision)
    exact = options.match == "Exact" and version
    return (version if exact else context.store.revision), None


def read_version(text: str) -> int:
    """A resource version from a query."""
    if not text:
        return 0
    if (version := find_whole(text)) is None:
        raise BadRequest(
            f"invalid resource version: resourceVersion: Invalid value: {show(text)}: "
            f"{explain_whole(text)}"
        )
    return version


def too_new(version: int, current: int) -> TimedOut:
    """The error for a resourceVersion that is newer than this server's."""
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return TimedOut(
        f"Timeout: Too large resource version: {version}, current: {current}",
        details={"causes": [cause], "retryAfterSeconds": 1},
    )


def _token(version: int, last: StoredObject) -> str:
    start = f"{last.namespace}/{last.name}\0"
    body = orjson.dumps({"v": _TOKEN_VERSION, "rv": version, "start": start})
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def _read_token(token: str) -> tuple[int, tuple[str, str]]:
    raw = b""
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        body = orjson.loads(raw)
    except (ValueError, binascii.Error) as error:
        raise _bad_token(_stumble(raw) or str(error)) from None
    if not isinstance(body, dict) or body.get("v") != _TOKEN_VERSION:
        version = body.get("v", "") if isinstance(body, dict) else ""
        raise _bad_token(f"server does not recognize this encoded version {version}")
    try:
        namespace, _, name = body["start"].removesuffix("\0").partition("/")
        return int(body["rv"]), (namespace, name)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise _bad_token("incorrect encoded start resourceVersion") from None


def _bad_token(why: str) -> BadRequest:
    return BadRequest(f"invalid continue token: continue key is not valid: {why}")


def _stumble(raw: bytes) -> str:
    """The first byte of a continue token, if it cannot begin a JSON value."""
    if not raw or raw[:1] in b'{["-0123456789tfn':
        return ""
    first = chr(raw[0])
    shown = first if first.isascii() and first.isprintable() else f"\\u{raw[0]:04x}"
    return f"invalid character '{shown}' looking for beginning of value"


def item_prefix(resource: Resource) -> bytes:
    """The bytes of kind and apiVersion, which items of a built-in list leave out."""
    if resource.structural is not None or resource.from_storage is not None:
        return b""
    kind = resource.kind
    head: bytes = orjson.dumps({"kind": kind.name, "apiVersion": kind.api_version})
    return head[:-1] + b","


def encode_item(resource: Resource, entry: StoredObject, prefix: bytes) -> bytes:
    """One item of a list."""
    raw = encode(resource, entry)
    if prefix and raw.startswith(prefix):
        return b"{" + raw[len(prefix) :]
    return raw
