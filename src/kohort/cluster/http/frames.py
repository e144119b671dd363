"""
Cuts the bytes of a list or a watch into encoded objects, without decoding the objects.

Objects stay encoded: the caches decode only the fields they need. A line of a
watch may be megabytes long, so lines are joined from chunks of any size. A user who may
store an object of free form chooses how deep it is, and decoders recurse: an answer
that is too deep for them is read again without the values below any depth in use, so
that one deep object does not make the whole list unreadable. The two decoders have different
limits, and that of msgspec differs between versions of Python; an object that leaves here can
be decoded by both.
"""

import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec
import orjson

from kohort.cluster.errors import ClusterError, InternalError
from kohort.cluster.http.answers import read_status
from kohort.cluster.objects import Object
from kohort.cluster.port import WatchEvent

_T = TypeVar("_T")


class _ListMetadata(msgspec.Struct, frozen=True):
    resource_version: str = msgspec.field(default="", name="resourceVersion")
    continue_from: str | None = msgspec.field(default=None, name="continue")


class _List(msgspec.Struct, frozen=True):
    metadata: _ListMetadata = _ListMetadata()
    items: list[msgspec.Raw] | None = None


class _Line(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


DEPTH_MAX = 400
# A string without a closing quote is taken whole: else the search starts again at each quote.
_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_lists = msgspec.json.Decoder(_List)
_lines = msgspec.json.Decoder(_Line)


class Page(msgspec.Struct, frozen=True):
    """One page of a list: encoded objects, their version, and the continue token."""

    items: list[bytes]
    version: str
    continue_from: str


def read_page(body: bytes) -> Page:
    """The objects of a list, each a copy that does not keep the whole answer alive."""
    page = _decode(_lists, body)
    items = [_flatten(bytes(item)) for item in page.items or ()]
    return Page(items, page.metadata.resource_version, page.metadata.continue_from or "")


def read_object(body: bytes) -> Object:
    """One decoded object."""
    try:
        try:
            found: Object = orjson.loads(body)
        except orjson.JSONDecodeError as error:
            if "depth limit" not in str(error):
                raise
            found = orjson.loads(cut_deep(body))
    except orjson.JSONDecodeError as error:
        raise _garbled(error) from error
    return found


def read_line(line: bytes) -> WatchEvent:
    """One watch event; raises the error that a line of type ERROR reports."""
    change = _decode(_lines, line)
    if change.type == "ERROR":
        raise _read_failure(bytes(change.object))
    return WatchEvent(change.type, _flatten(bytes(change.object)))


def _decode(decoder: "msgspec.json.Decoder[_T]", body: bytes) -> _T:
    try:
        try:
            return decoder.decode(body)
        except RecursionError:
            return decoder.decode(cut_deep(body))
    except msgspec.MsgspecError as error:
        raise _garbled(error) from error


def _flatten(raw: bytes) -> bytes:
    """An object that orjson can decode; only one with many brackets can be too deep for it."""
    if raw.count(b"{") + raw.count(b"[") <= DEPTH_MAX:
        return raw
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return cut_deep(raw) if "depth limit" in str(error) else raw
    return raw


def cut_deep(body: bytes, limit: int = DEPTH_MAX) -> bytes:
    """The JSON with null for every list and mapping below a depth."""
    kept: list[bytes] = []
    depth = start = 0
    for part in _PARTS.finditer(body):
        match body[part.start()]:
            case 0x5B | 0x7B:  # [ or {
                depth += 1
                if depth == limit + 1:
                    kept += [body[start : part.start()], b"null"]
            case 0x5D | 0x7D:  # ] or }
                if depth == limit + 1:
                    start = part.end()
                depth -= 1
    return b"".join([*kept, body[start:]])


def _read_failure(raw: bytes) -> ClusterError:
    status = read_object(raw)
    return read_status(status) if isinstance(status, dict) else InternalError(str(status))


def _garbled(error: Exception) -> InternalError:
    return InternalError(f"the server's answer cannot be read: {error}")


class Lines:
    """Joins chunks into lines."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that are complete with this chunk; the rest waits for the next chunk."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._begun.append(piece)
            line = b"".join(self._begun)
            self._begun.clear()
            if line.strip():
                yield line
        if rest:
            self._begun.append(rest)
