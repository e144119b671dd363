"""
Paths to one field of a schema, as rules and selectable fields write them.
"""

import re

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object

_PART = re.compile(r"\.(?P<name>[^.\[\]]+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]")


class PathFault(KohortError):
    """The path leads nowhere; the text says why."""


def find_field(text: str, schema: Object, *, brackets: bool = True) -> Object:
    """The schema that a path leads to; raises ``PathFault``."""
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            raise PathFault(_explain(text[position:]))
        if match["name"] is None and not brackets:
            raise PathFault("array notation is not allowed")
        schema = _step(schema, match["name"] or re.sub(r"\\(.)", r"\1", match["quoted"]))
        position = match.end()
    return schema


def _step(schema: Object, name: str) -> Object:
    properties, values = schema.get("properties"), schema.get("additionalProperties")
    if properties and name in properties:
        found: Object = properties[name]
        return found
    if properties or not isinstance(values, dict):
        raise PathFault("does not refer to a valid field")
    return values


def _explain(rest: str) -> str:
    if rest.startswith(("[", ".")):
        return "unexpected end of JSON path"
    return f"expected [ or . but got: {rest}"
