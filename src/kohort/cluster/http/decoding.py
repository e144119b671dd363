"""
Where bytes from the server are cut into objects without looking inside them.

Objects stay encoded: the caches decode only the fields they need. A line of a
watch may be megabytes long, so lines are joined from chunks of any size.
"""

from collections.abc import Iterator

import msgspec
import orjson

from kohort.cluster.errors import ClusterError, InternalError
from kohort.cluster.http.answers import read_status
from kohort.cluster.objects import Object
from kohort.cluster.port import Change


class _ListMetadata(msgspec.Struct, frozen=True):
    resource_version: str = msgspec.field(default="", name="resourceVersion")
    continue_from: str | None = msgspec.field(default=None, name="continue")


class _List(msgspec.Struct, frozen=True):
    metadata: _ListMetadata = _ListMetadata()
    items: list[msgspec.Raw] | None = None


class _Line(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


_lists = msgspec.json.Decoder(_List)
_lines = msgspec.json.Decoder(_Line)


class Page(msgspec.Struct, frozen=True):
    """Part of a list: encoded objects, their version, and where to go on."""

    items: list[bytes]
    version: str
    continue_from: str


def read_page(body: bytes) -> Page:
    """The objects of a list, each a copy that does not keep the whole answer alive."""
    try:
        page = _lists.decode(body)
    except msgspec.MsgspecError as error:
        raise _garbled(error) from error
    items = [bytes(item) for item in page.items or ()]
    return Page(items, page.metadata.resource_version, page.metadata.continue_from or "")


def read_object(body: bytes) -> Object:
    """One decoded object."""
    try:
        found: Object = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _garbled(error) from error
    return found


def read_line(line: bytes) -> Change:
    """One change; a line that reports an error raises it."""
    try:
        change = _lines.decode(line)
    except msgspec.MsgspecError as error:
        raise _garbled(error) from error
    if change.type == "ERROR":
        raise _read_failure(bytes(change.object))
    return Change(change.type, bytes(change.object))


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
        """The lines that the chunk ends; the rest waits for the next one."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._begun.append(piece)
            line = b"".join(self._begun)
            self._begun.clear()
            if line.strip():
                yield line
        if rest:
            self._begun.append(rest)
