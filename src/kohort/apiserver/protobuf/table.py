"""
The table of protobuf messages, compiled into readers once.

The table is data: ``tools/protobuf_fields`` reads the numbers from the Go types
of the API. A row is the field's number, its JSON name, its kind (a scalar, a
special type or another message) and letters: ``i`` its fields belong to the
message around it, ``m`` a map of text to the kind, ``o`` left out when empty,
``p`` a pointer, so present means meant, ``r`` repeated.
"""

from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import orjson

from kohort.apiserver.protobuf.values import (
    MAGIC,
    either_reader,
    json_reader,
    read_bytes,
    read_int_or_string,
    read_microtime,
    read_quantity,
    read_strings,
    read_time,
)
from kohort.apiserver.protobuf.wire import (
    APPEND,
    COLLECT,
    DROP_EMPTY,
    EXTEND,
    KEEP,
    MERGE,
    Field,
    Fields,
    MalformedError,
    Reader,
    read_bool,
    read_float,
    read_int,
    read_ints,
    read_message,
    read_text,
)
from kohort.cluster.objects import Object

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_WIRE_TYPES = {"bool": _VARINT, "int": _VARINT, "float": _FIXED64}
_SCHEMA = "apiextensions.v1.JSONSchemaProps"
_TYPE_META: Fields = {
    10: Field("apiVersion", read_text, DROP_EMPTY),
    18: Field("kind", read_text, DROP_EMPTY),
}


class Envelope(NamedTuple):
    """The kind of an object, and its position in the body."""

    api_version: str
    kind: str
    start: int
    end: int


class Table:
    """The messages of the API, ready to read bodies with."""

    def __init__(self, raw: Object) -> None:
        self._roots: dict[str, str] = raw["roots"]
        # Messages contain each other, so all are created before any is filled.
        self._messages: dict[str, Fields] = {name: {} for name in raw["messages"]}
        self._readers = self._special_readers() | {
            name: _message_reader(fields) for name, fields in self._messages.items()
        }
        for name, rows in raw["messages"].items():
            for row in rows:
                self._add_field(self._messages[name], *row)
        self._envelope: Fields = {
            10: Field("type", _message_reader(_TYPE_META), KEEP),
            18: Field("raw", lambda data, start, end, _: (start, end), KEEP),
            26: Field("encoding", read_text, DROP_EMPTY),
        }

    def open(self, data: bytes, depth: int = 0) -> Envelope:
        """Read the envelope (``runtime.Unknown``) around an object."""
        if not data:
            raise MalformedError("empty data")
        if data == MAGIC:
            raise MalformedError("empty body")
        if not data.startswith(MAGIC):
            raise MalformedError(
                "provided data does not appear to be a protobuf message, "
                f"expected prefix [{' '.join(str(byte) for byte in MAGIC)}]"
            )
        parts = read_message(self._envelope, data, len(MAGIC), len(data), depth)
        if "encoding" in parts:
            raise MalformedError(f"the content encoding {parts['encoding']} is not supported")
        named = parts.get("type", {})
        return Envelope(
            named.get("apiVersion", ""), named.get("kind", ""), *parts.get("raw", (0, 0))
        )

    def read(self, data: bytes, envelope: Envelope, depth: int = 0) -> Object:
        """The object in an envelope."""
        api_version, kind, start, end = envelope
        # DeleteOptions and Status may be named in any group.
        root = self._roots.get(f"{api_version}/{kind}") or self._roots.get(kind)
        if root is None:
            raise MalformedError(f'no kind "{kind}" is registered for version "{api_version}"')
        content = read_message(self._messages[root], data, start, end, depth)
        return {"apiVersion": api_version, "kind": kind, **content}

    def _read_nested(self, data: bytes, depth: int) -> Object:
        return self.read(data, self.open(data, depth), depth)

    def _add_field(self, fields: Fields, number: int, name: str, kind: str, flags: str) -> None:
        wire, read, put = _WIRE_TYPES.get(kind, _BYTES), self._readers[kind], KEEP
        if "r" in flags:
            put = APPEND
            if kind == "int":
                read, put = read_ints, EXTEND
                fields[number << 3 | _BYTES] = Field(name, read, put)
        elif "m" in flags:
            wire, read, put = _BYTES, _entry_reader(kind, read), COLLECT
        elif "i" in flags:
            put = MERGE
        elif "p" not in flags and ("o" in flags or kind in self._messages):
            put = DROP_EMPTY
        fields[number << 3 | wire] = Field(name, read, put)

    def _special_readers(self) -> dict[str, Reader]:
        schema = _message_reader(self._messages[_SCHEMA])
        one = Field("schema", schema, KEEP)
        return {
            "string": read_text,
            "bytes": read_bytes,
            "bool": read_bool,
            "int": read_int,
            "float": read_float,
            "strings": read_strings,
            "quantity": read_quantity,
            "intorstring": read_int_or_string,
            "time": read_time,
            "microtime": read_microtime,
            "json": json_reader(self._read_nested),
            "schemaorlist": either_reader({10: one, 18: Field("list", schema, APPEND)}),
            "schemaorbool": either_reader({8: Field("allows", read_bool, KEEP), 18: one}),
            "schemaorstrings": either_reader({10: one, 18: Field("names", read_text, APPEND)}),
        }


def _message_reader(fields: Fields) -> Reader:
    def read(data: bytes, start: int, end: int, depth: int) -> Object:
        return read_message(fields, data, start, end, depth + 1)

    return read


def _entry_reader(kind: str, read_value: Reader) -> Reader:
    value_tag = 2 << 3 | _WIRE_TYPES.get(kind, _BYTES)
    fields: Fields = {
        10: Field("key", read_text, KEEP),
        value_tag: Field("value", read_value, KEEP),
    }

    def read(data: bytes, start: int, end: int, depth: int) -> Object:
        entry = read_message(fields, data, start, end, depth)
        value: Any = entry["value"] if "value" in entry else read_value(data, end, end, depth)
        return {entry.get("key", ""): value}

    return read


@cache
def load_table() -> Table:
    """The table that ships with the package."""
    data = files("kohort.apiserver.protobuf").joinpath("data/messages.json").read_bytes()
    return Table(orjson.loads(data))
