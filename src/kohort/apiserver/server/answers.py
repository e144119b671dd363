"""
HTTP responses: headers, and the body as plain or indented JSON, YAML or gzip.

Encoded objects pass through untouched unless the client asked for another form,
so the common answer costs no encoding here.
"""

import asyncio
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any
from uuid import uuid4

import orjson
from aiohttp import web
from multidict import CIMultiDict

from kohort.apiserver.schemas.raw import indent_text
from kohort.apiserver.server.request.negotiation import JSON, PLAIN, YAML, Form, wants_indent
from kohort.apiserver.server.request.queries import Caller, Query
from kohort.cluster.errors import ClusterError
from kohort.cluster.objects import Object, encode_json, escape

GZIP_BYTES_MIN = 128 * 1024
# Above this, a thread compresses, so that other requests need not wait.
_THREAD_BYTES_MIN = 1024 * 1024
# YAML takes a second for each megabyte, and its writer blocks the event loop until it is done.
_YAML_BYTES_MIN = 32 * 1024
_YAML_ITEMS_AT_ONCE = 20

# A real server shortens each warning when all together are too long. Python's http.client accepts
# at most a hundred headers, so fewer of them may be warnings.
_WARNINGS_LENGTH_MAX = 4 * 1024
_WARNING_LENGTH_MAX = 256
_WARNINGS_MAX = 90
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

_audit_prefix = str(uuid4())[:23]
_audit_number = count(1)


@dataclass(slots=True)
class Call:
    """One authenticated request: its query, its user, and the form of the response."""

    request: web.BaseRequest
    query: Query
    caller: Caller
    form: Form = PLAIN
    warning: str = ""  # Warnings of every response, such as that the version is deprecated.

    @property
    def is_for_a_person(self) -> bool:
        """Whether the response is indented."""
        pretty = self.query.get("pretty")
        return wants_indent(pretty[0] if pretty else None, self.caller.agent)


def make_headers(media: str) -> CIMultiDict[str]:
    """The headers of every response."""
    return CIMultiDict(
        {
            "Audit-Id": f"{_audit_prefix}-{next(_audit_number):012x}",
            "Cache-Control": "no-cache, private",
            "Content-Type": media,
        }
    )


def write_text(text: str, code: int = 200) -> web.Response:
    """A response with plain text."""
    headers = make_headers("text/plain; charset=utf-8")
    headers["X-Content-Type-Options"] = "nosniff"
    return web.Response(body=text.encode(), status=code, headers=headers)


async def write_answer(
    call: Call, raw: bytes, code: int = 200, warnings: Iterable[str] = ()
) -> web.Response:
    """A response with encoded JSON in the form that the client accepts."""
    media = call.form.media
    if media == YAML:
        raw = await _work_aside(_write_yaml, raw, _YAML_BYTES_MIN)
    elif call.is_for_a_person:
        raw = await _work_aside(indent, raw, _THREAD_BYTES_MIN)
    else:
        raw += b"\n"
    headers = make_headers(media)
    _add_warnings(headers, (call.warning, *warnings) if call.warning else warnings)
    return await write_bytes(call.request, raw, code, headers)


async def write_bytes(
    request: web.BaseRequest, raw: bytes, code: int, headers: CIMultiDict[str]
) -> web.Response:
    """A response with bytes and more headers, compressed if it is large."""
    if len(raw) > GZIP_BYTES_MIN and "gzip" in request.headers.get("Accept-Encoding", ""):
        raw = await _work_aside(_compress, raw, _THREAD_BYTES_MIN)
        headers["Content-Encoding"] = "gzip"
        headers["Vary"] = "Accept-Encoding"
    return web.Response(body=raw, status=code, headers=headers)


async def _work_aside(work: Callable[[bytes], bytes], raw: bytes, bytes_min: int) -> bytes:
    """Run a function on the bytes, in a thread if they are many."""
    if len(raw) <= bytes_min:
        return work(raw)
    return await asyncio.get_running_loop().run_in_executor(None, work, raw)


def indent(raw: bytes) -> bytes:
    """Indented JSON; raw parts keep their text."""
    if b'"ControllerRevision' in raw:
        return indent_text(raw)
    return escape(orjson.dumps(orjson.loads(raw), option=orjson.OPT_INDENT_2))


def _compress(raw: bytes) -> bytes:
    return zlib.compress(raw, level=1, wbits=31)


def _add_warnings(headers: CIMultiDict[str], warnings: Iterable[str]) -> None:
    """Add Warning headers: each once, within the length limits, without control characters."""
    told = [text for text in dict.fromkeys(warnings) if text and not _CONTROL.search(text)]
    if sum(map(len, told)) > _WARNINGS_LENGTH_MAX:
        told = [text[:_WARNING_LENGTH_MAX] for text in told]
    length = 0
    for text in told[:_WARNINGS_MAX]:
        if length >= _WARNINGS_LENGTH_MAX:
            return
        length += len(text)
        headers.add("Warning", f"299 - {_quoted(text)}")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _write_yaml(raw: bytes) -> bytes:
    """JSON as YAML; a long list is written in pieces, so that other requests run in between."""
    obj = orjson.loads(raw)
    items = obj.get("items")
    if not isinstance(items, list) or len(items) <= _YAML_ITEMS_AT_ONCE:
        return _dump_yaml(obj)
    starts = range(0, len(items), _YAML_ITEMS_AT_ONCE)
    pieces = [_dump_yaml(items[start : start + _YAML_ITEMS_AT_ONCE]) for start in starts]
    around = _dump_yaml({**obj, "items": []})
    return around.replace(b"\nitems: []\n", b"\nitems:\n" + b"".join(pieces), 1)


def _dump_yaml(value: Any) -> bytes:
    # Imported late: few responses are YAML, and a start should not wait for the library.
    import yaml

    text: str = yaml.dump(value, Dumper=yaml.CSafeDumper, allow_unicode=True, width=1_000_000)
    return text.encode()


def write_error(
    error: ClusterError, media: str = JSON, *, is_indented: bool = False
) -> web.Response:
    """The response for an error: its Status, and perhaps Retry-After."""
    status: Object = error.status()
    if media == YAML:
        raw = _dump_yaml(status)
    else:
        raw = encode_json(status)
        raw = indent(raw) if is_indented else raw + b"\n"
    headers = make_headers(media)
    retry = (error.details or {}).get("retryAfterSeconds")
    if retry:
        headers["Retry-After"] = str(retry)
    _add_warnings(headers, error.warnings)
    return web.Response(body=raw, status=error.code, headers=headers)
