"""
Raw JSON: the fields that a server stores as the text that came, without reading it.

``ControllerRevision.data`` is one: its numbers, the order of its members and all that
is spelled in two ways stay as the client wrote them, because controllers compare and
hash those bytes. An object here is a dictionary as anywhere else, and remembers its
text. Whoever changes it, changes the dictionary: a text that no longer says the same
is forgotten.
"""

import re
from functools import cache
from typing import Any

import msgspec
import orjson

from kohort.cluster.objects import Object, escape
from kohort.simulator.schemas.shapes import Shape

RAW = "io.k8s.apimachinery.pkg.runtime.RawExtension"
_BLANK = re.compile(rb'"(?:[^"\\]|\\.)*"|[ \t\r\n]+', re.DOTALL)

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}\[\],:]|[^{}\[\],:"]+', re.DOTALL)


class RawObject(dict[str, Any]):
    """An object and the text that it was read from."""

    __slots__ = ("text",)

    def __init__(self, value: Object, text: bytes) -> None:
        super().__init__(value)
        self.text = text


def compact(text: bytes) -> bytes:
    """JSON without blanks between its tokens, escaped as Go escapes."""
    return escape(_BLANK.sub(lambda found: found[0] if found[0][:1] == b'"' else b"", text))


def indent_text(text: bytes) -> bytes:
    """Compact JSON in lines, two blanks deeper at each level; its tokens stay as they are."""
    depth = 0
    lines: list[bytes] = []
    for token in _TOKEN.findall(text):
        if token in (b"{", b"["):
            depth += 1
            lines += (token, b"\n", b"  " * depth)
        elif token in (b"}", b"]"):
            depth -= 1
            lines += (b"\n", b"  " * depth, token)
        elif token == b",":
            lines += (b",\n", b"  " * depth)
        else:
            lines.append(b": " if token == b":" else token)
    return b"".join(lines)


def find_raw_fields(shape: Shape) -> tuple[str, ...]:
    """The fields of an object that are stored as they came; only the outermost ones can be."""
    return _raw_fields(shape.name, shape)


@cache
def _raw_fields(name: str, shape: Shape) -> tuple[str, ...]:
    return tuple(field for field, inner in shape.fields.items() if name and inner.name == RAW)


def keep_texts(obj: Object, text: bytes, fields: tuple[str, ...]) -> Object:
    """The object that was read from a text, with what it says in fields that are raw."""
    parts = _decoder().decode(text)
    kept = {
        field: RawObject(obj[field], compact(bytes(parts[field])))
        for field in fields
        if isinstance(obj.get(field), dict) and field in parts
    }
    return {**obj, **kept} if kept else obj


def forget_texts(obj: Object, fields: tuple[str, ...]) -> Object:
    """The object after something read its raw fields: they will be spelled anew."""
    read = {f: dict(obj[f]) for f in fields if isinstance(obj.get(f), RawObject)}
    return {**obj, **read} if read else obj


def text_of(value: Any) -> bytes | None:
    """The text that a value was read from, if it still says the same."""
    if isinstance(value, RawObject) and orjson.loads(value.text) == value:
        return value.text
    return None


@cache
def _decoder() -> msgspec.json.Decoder[dict[str, msgspec.Raw]]:
    return msgspec.json.Decoder(dict[str, msgspec.Raw])
