"""
Readers for the types whose JSON form differs from their protobuf fields.

Times become text in UTC, quantities their text, an int-or-string one of both,
and raw JSON is parsed. Nothing at all becomes None, which the caller drops.
"""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from kohort.apiserver.protobuf.wire import (
    APPEND,
    KEEP,
    Field,
    Fields,
    MalformedError,
    Reader,
    read_int,
    read_message,
    read_text,
)
from kohort.apiserver.schemas.depth import TOO_DEEP, is_too_deep
from kohort.apiserver.schemas.raw import RawObject, compact
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
