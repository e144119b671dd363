"""
Decodes a request body of type ``application/vnd.kubernetes.protobuf`` into an object.

The object is the one that the same Go value in JSON would give, without the
empty things that Go writes for lack of a choice: ``status: {}``,
``creationTimestamp: null``. Whatever the bytes are, the outcome is an object
or a BadRequest that says what is wrong.

The table of messages is data, compiled into readers once: ``tools/protobuf_fields`` reads the
numbers from the Go types of the API. A row is the field's number, its JSON name, its kind (a
scalar, a special type or another message) and letters: ``i`` its fields belong to the message
around it, ``m`` a map of text to the kind, ``o`` left out when empty, ``p`` a pointer, so present
means meant, ``r`` repeated.

Special types are those whose JSON form differs from their protobuf fields: times become text in
UTC, quantities their text, an int-or-string one of both, and raw JSON is parsed. Nothing at all
becomes None, which the caller drops.
"""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import orjson

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
from kohort.apiserver.schemas.limits import TOO_DEEP, is_too_deep
from kohort.apiserver.schemas.raw import RawObject, compact
from kohort.cluster.errors import BadRequest
from kohort.cluster.objects import Object

MAGIC = b"k8s\x00"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_TIME: Fields = {8: Field("seconds", read_int, KEEP), 16: Field("nanos", read_int, KEEP)}
_INT_OR_STRING: Fields = {
    8: Field("type", read_int, KEEP),
    16: Field("int", read_int, KEEP),
    26: Field("text", read_text, KEEP),
}
_QUANTITY: Fields = {10: Field("text", read_text, KEEP)}
_STRINGS: Fields = {10: Field("items", read_text, APPEND)}


def read_bytes(data: bytes, start: int, end: int, _depth: int) -> str:
    """Bytes, as JSON carries them: in base64."""
    return b64encode(data[start:end]).decode()


def read_strings(data: bytes, start: int, end: int, depth: int) -> list[str]:
    """A list of strings that is a message of its own."""
    found: list[str] = read_message(_STRINGS, data, start, end, depth + 1).get("items", [])
    return found


def read_quantity(data: bytes, start: int, end: int, depth: int) -> str:
    """An amount of a resource."""
    return read_message(_QUANTITY, data, start, end, depth + 1).get("text") or "0"


def read_int_or_string(data: bytes, start: int, end: int, depth: int) -> int | str:
    """An IntOrString, as the number or the string that its type field selects."""
    parts = read_message(_INT_OR_STRING, data, start, end, depth + 1)
    if parts.get("type"):
        return str(parts.get("text", ""))
    return int(parts.get("int", 0))


def read_time(data: bytes, start: int, end: int, depth: int) -> str | None:
    """A time in whole seconds; a message without bytes is no time."""
    moment = _find_moment(data, start, end, depth)
    return None if moment is None else _show(moment, "seconds")


def read_microtime(data: bytes, start: int, end: int, depth: int) -> str | None:
    """A time to the microsecond."""
    moment = _find_moment(data, start, end, depth)
    return None if moment is None else _show(moment, "microseconds")


def _show(moment: datetime, precision: str) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def _find_moment(data: bytes, start: int, end: int, depth: int) -> datetime | None:
    if start == end:
        return None
    parts = read_message(_TIME, data, start, end, depth + 1)
    micros = parts.get("nanos", 0) // 1000
    try:
        return _EPOCH + timedelta(seconds=parts.get("seconds", 0), microseconds=micros)
    except OverflowError:
        raise MalformedError("a time lies outside the years 1 to 9999") from None


def json_reader(read_nested: Callable[[bytes, int], Object]) -> Reader:
    """A reader of raw JSON, or of an object that is enveloped in its turn."""
    fields: Fields = {10: Field("raw", lambda data, start, end, _: data[start:end], KEEP)}

    def read(data: bytes, start: int, end: int, depth: int) -> Any:
        raw = read_message(fields, data, start, end, depth + 1).get("raw")
        if not raw:
            return None
        if raw.startswith(MAGIC):
            return read_nested(raw, depth + 1)
        if is_too_deep(raw):
            raise MalformedError(TOO_DEEP)
        value = orjson.loads(raw)
        return RawObject(value, compact(raw)) if isinstance(value, dict) else value

    return read


def either_reader(fields: Fields) -> Reader:
    """A reader of a message that becomes the one of its fields that is set."""

    def read(data: bytes, start: int, end: int, depth: int) -> Any:
        parts = read_message(fields, data, start, end, depth + 1)
        # The last field counts: before a schema comes the flag whether any value is allowed.
        return parts.popitem()[1] if parts else None

    return read


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


MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_QUOTED_BYTES_MAX = 1024
_FAULTS = (MalformedError, IndexError, UnicodeDecodeError, orjson.JSONDecodeError)


def decode_body(raw: bytes, api_version: str = "", kind: str = "") -> Object:
    """The object in a body; a body without a kind has the expected one."""
    table = load_table()
    try:
        envelope = table.open(raw)
    except _FAULTS as fault:
        raise _unrecognized(raw, kind, fault) from None
    envelope = envelope._replace(
        api_version=envelope.api_version or api_version, kind=envelope.kind or kind
    )
    try:
        return table.read(raw, envelope)
    except _FAULTS as fault:
        raise _unfit(envelope, kind, fault) from None


def _unrecognized(raw: bytes, expected: str, fault: Exception) -> BadRequest:
    must = f"must be of type {expected}" if expected else "must be of a known type"
    quoted = raw[:_QUOTED_BYTES_MAX].hex() or "<empty>"
    why = _explain(fault)
    return BadRequest(f"the object provided is unrecognized ({must}): {why} ({quoted})")


def _unfit(envelope: Envelope, expected: str, fault: Exception) -> BadRequest:
    version = envelope.api_version.rpartition("/")[2]
    return BadRequest(
        f'{envelope.kind} in version "{version}" cannot be handled as a '
        f"{expected or envelope.kind}: {_explain(fault)}"
    )


def _explain(fault: Exception) -> str:
    if isinstance(fault, IndexError):
        return "unexpected EOF"
    return "a text is not UTF-8" if isinstance(fault, UnicodeDecodeError) else str(fault)
