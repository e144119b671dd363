"""
Decodes a request body of type ``application/vnd.kubernetes.protobuf`` into an object.

The object is the one that the same Go value in JSON would give, without the
empty things that Go writes for lack of a choice: ``status: {}``,
``creationTimestamp: null``. Whatever the bytes are, the outcome is an object
or a BadRequest that says what is wrong.
"""

import orjson

from kohort.apiserver.protobuf.table import Envelope, load_table
from kohort.apiserver.protobuf.wire import MalformedError
from kohort.cluster.errors import BadRequest
from kohort.cluster.objects import Object

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
