"""
Where the bytes of a protobuf message become a dictionary, by a table of its fields.

A field is known by its tag: its number and the wire type in one. What the table
does not know is passed over, as every protobuf reader does. Nested messages are read in place, by
position, so that no bytes are copied before they become text.
"""

from collections.abc import Callable
from struct import unpack_from
from typing import Any, NamedTuple

from kohort.cluster.errors import BadRequest
from kohort.cluster.objects import Object

NESTING_MAX = 100

# What lies between two positions, and how deep that is nested.
Reader = Callable[[bytes, int, int, int], Any]

# How a value goes into the object that holds it.
KEEP, DROP_EMPTY, APPEND, EXTEND, COLLECT, MERGE = range(6)


class Field(NamedTuple):
    """One field of a message: what it is called, how it is read, and how it is put."""

    name: str
    read: Reader
    put: int


Fields = dict[int, Field]


def malformed(why: str) -> BadRequest:
    """The answer to bytes that are not what they say they are."""
    return BadRequest(f"the body is not a protobuf message of the Kubernetes API: {why}")


def read_message(fields: Fields, data: bytes, at: int, end: int, depth: int) -> Object:
    """The message that lies between two positions."""
    if depth > NESTING_MAX:
        raise malformed(f"it nests deeper than {NESTING_MAX} levels")
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
            raise malformed("it ends in the middle of a field")
        field = fields.get(tag)
        if field is not None:
            _put(out, field, field.read(data, start, at, depth))
    return out


def _put(out: Object, field: Field, value: Any) -> None:
    name, _, put = field
    if put == APPEND:
        out.setdefault(name, []).append(value)
    elif put == EXTEND:
        out.setdefault(name, []).extend(value)
    elif put == COLLECT:
        out.setdefault(name, {}).update(value)
    elif put == MERGE:
        out.update(value)
    elif value or (put == KEEP and value is not None):
        out[name] = value


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
    raise malformed("a number is longer than 64 bits")


def skip_scalar(wire: int, data: bytes, at: int) -> int:
    """The position after a number of that wire type."""
    if wire == 0:
        return read_varint(data, at)[1]
    if wire == 1:
        return at + 8
    if wire == 5:
        return at + 4
    raise malformed(f"it has a field of the wire type {wire}")


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
