"""
Decodes the object of a request, of a built-in kind, with its unknown and repeated fields.

A real server reads such an object into a struct: what the struct does not know
is gone, what has the wrong type is refused, and the rest comes back in one
form. ``read_object`` does the same. What is unknown or given twice it only
reports, since ``fieldValidation`` decides what becomes of that: nothing
(Ignore), warnings with these texts (Warn), or a refusal (Strict).

Nulls are absent fields. Names are matched exactly. An object that is only part
of one (a patch, an applied configuration) must not come here, because fields
that every object of its kind has are added.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from kohort.apiserver.schemas.decoders.quick import Irregular, compile_reader
from kohort.apiserver.schemas.decoders.thorough import (
    Pairs,
    Unreadable,
    list_duplicates,
    read_thoroughly,
)
from kohort.apiserver.schemas.shapes import Shape
from kohort.cluster.errors import BadRequest
from kohort.cluster.objects import Object

__all__ = [
    "Unreadable",
    "find_duplicates",
    "has_duplicates",
    "read_fields",
    "read_object",
    "refuse_strictly",
    "refuse_unreadable",
    "strict_text",
]


def read_object(
    obj: Object, shape: Shape, raw: bytes | None = None, path: str = ""
) -> tuple[Object, tuple[str, ...]]:
    """
    The canonical object, and its unknown or repeated fields; raises Unreadable.

    The reader may change the given object, and return the same one. ``raw`` is the JSON
    that it was decoded from, unchanged since; without it, the reader does not look for
    fields given twice. ``path`` is the place of the object in a larger one.
    """
    if raw is not None and has_duplicates(obj, raw):
        return read_thoroughly(_load_pairs(raw), shape, path)
    try:
        compile_reader(shape)(obj)
    except Irregular:
        return read_thoroughly(obj, shape, path)
    return obj, ()


def read_fields(obj: Object, shape: Shape, fields: Iterable[str]) -> tuple[Object, tuple[str, ...]]:
    """
    As ``read_object``, for a canonical object in which only these fields were changed.

    Most writes are patches of a status, and the rest of the object is the larger part.
    """
    part = {field: obj[field] for field in fields if field in obj}
    try:
        compile_reader(shape)(part)
    except Irregular:
        return read_thoroughly(obj, shape)
    for field in fields:
        if field in part:
            obj[field] = part[field]
        else:
            obj.pop(field, None)
    return obj, ()


def has_duplicates(obj: Any, raw: bytes) -> bool:
    """
    Whether a document may repeat a field: true may be wrong, false never is.

    The decoded value keeps one of them, so written again it has fewer quotation
    marks. Only an escape that hides a quotation mark could make up for that.
    """
    if b"u0022" in raw:
        return True
    return raw.count(b'"') != orjson.dumps(obj).count(b'"')


def find_duplicates(raw: bytes) -> list[str]:
    """The repeated fields of a document of any type, for custom kinds."""
    try:
        if not has_duplicates(orjson.loads(raw), raw):
            return []
    except orjson.JSONDecodeError:
        pass  # Go accepts some texts that the fast parser rejects.
    return list_duplicates(_load_pairs(raw))


def _load_pairs(raw: bytes) -> Any:
    """A document with all its repeated fields; accepts invalid UTF-8 and huge numbers."""
    text = raw.decode("utf-8", "replace")
    return json.loads(text, object_pairs_hook=Pairs, parse_int=_read_int)


def _read_int(text: str) -> int | float:
    return int(text) if len(text) < 400 else float(text)


def strict_text(problems: Sequence[str]) -> str:
    """The message with all unknown and repeated fields."""
    return f"strict decoding error: {', '.join(problems)}"


def refuse_strictly(obj: Object, kind: str, problems: Sequence[str]) -> BadRequest:
    """The error for a create or update with unknown or repeated fields under Strict."""
    return _refuse(obj, kind, strict_text(problems))


def refuse_unreadable(obj: Object, kind: str, error: Unreadable) -> BadRequest:
    """The error for a create or update with a value of a wrong type."""
    return _refuse(obj, kind, str(error))


def _refuse(obj: Object, kind: str, why: str) -> BadRequest:
    version = str(obj.get("apiVersion") or "v1").rpartition("/")[2]
    given = obj.get("kind") or kind
    return BadRequest(f'{given} in version "{version}" cannot be handled as a {kind}: {why}')
