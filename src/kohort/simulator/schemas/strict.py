"""
This is where a request's object of a built-in kind is taken in.

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
from collections.abc import Sequence
from typing import Any

import orjson

from kohort.cluster.errors import BadRequest
from kohort.cluster.objects import Kind, Object
from kohort.simulator.schemas.decoding.quick import Irregular, compile_reader
from kohort.simulator.schemas.decoding.thorough import (
    Pairs,
    Unreadable,
    list_duplicates,
    read_thoroughly,
)
from kohort.simulator.schemas.shapes import Shape

__all__ = [
    "Unreadable",
    "find_duplicates",
    "has_duplicates",
    "normalise",
    "read_object",
    "refuse",
    "strict_text",
]


def normalise(
    obj: Object, shape: Shape, kind: Kind, path: str = "", raw: bytes | None = None
) -> list[str]:
    """
    Bring an object into its one form, in place; the answer is what was unknown or given twice.

    Raises BadRequest for a value of a wrong type. The arguments are those of ``read_object``.
    """
    try:
        answer, problems = read_object(obj, shape, raw, path)
    except Unreadable as error:
        raise refuse(kind, str(error)) from None
    if answer is not obj:
        obj.clear()
        obj.update(answer)
    return list(problems)


def read_object(
    obj: Object, shape: Shape, raw: bytes | None = None, path: str = ""
) -> tuple[Object, tuple[str, ...]]:
    """
    The object in its one form, and what was unknown or given twice; raises Unreadable.

    The object given may be changed, and may be the one answered. ``raw`` is the
    JSON that it was decoded from, unchanged since; without it, nobody looks for
    fields given twice. ``path`` says where the object stands in a larger one.
    """
    if raw is not None and has_duplicates(obj, raw):
        return read_thoroughly(json.loads(raw, object_pairs_hook=Pairs), shape, path)
    try:
        compile_reader(shape)(obj)
    except Irregular:
        return read_thoroughly(obj, shape, path)
    return obj, ()


def has_duplicates(obj: Any, raw: bytes) -> bool:
    """
    Whether an object of the document had a field twice; may say so in error, never the reverse.

    The decoded value keeps one of them, so written again it has fewer quotation
    marks. Only an escape that hides a quotation mark could make up for that.
    """
    if b"u0022" in raw:
        return True
    return raw.count(b'"') != orjson.dumps(obj).count(b'"')


def find_duplicates(raw: bytes) -> list[str]:
    """The fields that a document gives twice, whatever its type; for kinds without a shape."""
    if not has_duplicates(orjson.loads(raw), raw):
        return []
    return list_duplicates(json.loads(raw, object_pairs_hook=Pairs))


def strict_text(problems: Sequence[str]) -> str:
    """All that strict reading found, as one text."""
    return f"strict decoding error: {', '.join(problems)}"


def refuse(kind: Kind, why: str) -> BadRequest:
    """The answer to a create or update that cannot be read."""
    subject = f'{kind.name} in version "{kind.version}"'
    return BadRequest(f"{subject} cannot be handled as a {kind.name}: {why}")
