"""
Raw JSON: fields that the server stores as the client's own text, without decoding it.

``ControllerRevision.data`` is one: its numbers, the order of its members and all that
is spelled in two ways stay as the client wrote them, because controllers compare and
hash those bytes. An object here is a dictionary as anywhere else, and remembers its
text. A writer changes the dictionary: a text that no longer says the same
is forgotten.
"""

import re
from functools import cache
from typing import Any

import msgspec
import orjson

from kohort.apiserver.schemas.shapes import Shape
from kohort.cluster.objects import Object, escape

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
    """The raw fields of a type; only top-level fields can be raw."""
    return _raw_fields(shape.name, shape)


@cache
def _raw_fields(name: str, shape: Shape) -> tuple[str, ...]:
    return tuple(field for field, inner in shape.fields.items() if name and inner.name == RAW)


def keep_texts(obj: Object, text: bytes, fields: tuple[str, ...]) -> Object:
    """The decoded object, with the original text of its raw fields attached."""
    parts = _decoder().decode(text)
    kept = {
        field: RawObject(obj[field], compact(bytes(parts[field])))
        for field in fields
        if isinstance(obj.get(field), dict) and field in parts
    }
    return {**obj, **kept} if kept else obj


def forget_texts(obj: Object, fields: tuple[str, ...]) -> Object:
    """The object without the texts of its raw fields, which are then encoded again."""
    read = {f: dict(obj[f]) for f in fields if isinstance(obj.get(f), RawObject)}
    return {**obj, **read} if read else obj


def text_of(value: Any) -> bytes | None:
    """The original text of a value, if the value has not changed since."""
    if isinstance(value, RawObject) and orjson.loads(value.text) == value:
        return value.text
    return None


@cache
def _decoder() -> msgspec.json.Decoder[dict[str, msgspec.Raw]]:
    return msgspec.json.Decoder(dict[str, msgspec.Raw])
