"""
Decodes the bytes of a protobuf message into a dictionary, by a table of its fields.

A field is known by its tag: its number and the wire type in one. What the table
does not know is passed over, as every protobuf reader does. Nested messages are read in place, by
position, so that no bytes are copied before they become text.
"""

from collections.abc import Callable
from struct import unpack_from
from typing import Any, NamedTuple

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object

NESTING_MAX = 100

# Reads the bytes between two positions, at a depth of nesting.
Reader = Callable[[bytes, int, int, int], Any]

# Puts a value into the object that holds it.
KEEP, DROP_EMPTY, APPEND, EXTEND, COLLECT, MERGE = range(6)


class Field(NamedTuple):
    """One field of a message: its JSON name, its reader, and how its value is stored."""

    name: str
    read: Reader
    put: int


Fields = dict[int, Field]


class MalformedError(KohortError):
    """The bytes are no valid message; the text says why."""


def read_message(fields: Fields, data: bytes, at: int, end: int, depth: int) -> Object:
    """Read the message between two positions."""
    if depth > NESTING_MAX:
        raise MalformedError(f"messages nest deeper than {NESTING_MAX} levels")
    out: Object = {}
    while at < end:
        start, tag = at, data[at]
        at += 1
        if tag > 127:
            tag, at = read_varint(data, start)
        if tag & 7 == 2:
            length = data[at]
            at += 1
            if length > 127:
                length, at = read_varint(data, at - 1)
            start, at = at, at + length
        else:
            start, at = at, skip_scalar(tag & 7, data, at)
        if at > end:
            raise MalformedError("unexpected EOF")
        field = fields.get(tag)
        if field is None:
            _check_unknown(fields, tag)
            continue
        name, read, put = field
        value = read(data, start, at, depth)
        if put > DROP_EMPTY:
            _add(out, name, value, put)
        elif value or (put == KEEP and value is not None):
            out[name] = value
    return out


def _check_unknown(fields: Fields, tag: int) -> None:
    """Refuse a field that is known with another wire type; let an unknown one pass."""
    for known, field in fields.items():
        if known >> 3 == tag >> 3:
            raise MalformedError(f"proto: wrong wireType = {tag & 7} for field {field.name}")


def _add(out: Object, name: str, value: Any, put: int) -> None:
    if put == APPEND:
        out.setdefault(name, []).append(value)
    elif put == EXTEND:
        out.setdefault(name, []).extend(value)
    elif put == COLLECT:
        out.setdefault(name, {}).update(value)
    else:
        out.update(value)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number at a position, and the position after it."""
    value = shift = 0
    while shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise MalformedError("proto: integer overflow")


def skip_scalar(wire: int, data: bytes, at: int) -> int:
    """The position after a number of that wire type."""
    if wire == 0:
        return read_varint(data, at)[1]
    if wire == 1:
        return at + 8
    if wire == 5:
        return at + 4
    raise MalformedError(f"proto: illegal wireType {wire}")


def read_int(data: bytes, start: int, end: int, _depth: int) -> int:
    """A whole number, which may be negative."""
    value, _ = read_varint(data, start)
    return value - (1 << 64) if value >> 63 else value


def read_ints(data: bytes, start: int, end: int, depth: int) -> list[int]:
    """The numbers of a repeated field: one, or a packed run of them."""
    run = []
    while start < end:
        run.append(read_int(data, start, end, depth))
        start = read_varint(data, start)[1]
    return run


def read_bool(data: bytes, start: int, end: int, _depth: int) -> bool:
    """True or false."""
    return read_varint(data, start)[0] != 0


def read_float(data: bytes, start: int, end: int, _depth: int) -> float:
    """A floating-point number of 64 bits."""
    value: float = unpack_from("<d", data, start)[0]
    # JSON writes a whole number without a point, as long as that loses nothing.
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def read_text(data: bytes, start: int, end: int, _depth: int) -> str:
    """Text in UTF-8."""
    return data[start:end].decode()
