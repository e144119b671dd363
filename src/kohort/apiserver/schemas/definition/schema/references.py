"""
Checks that the schema declares the fields that a rule names.

The engine sees objects as maps, in which any key may be missing, so it cannot
tell a misspelt field from an absent one. The paths that start at ``self`` are
therefore looked up in the schema when the definition is read.
"""

import re

from kohort.apiserver.schemas.cel.names import find_spelling
from kohort.cluster.objects import Object

# An unterminated string is taken whole: else the search starts again at each quote.
_LITERAL = re.compile(r"""'(?:[^'\\]|\\[\s\S])*+'?|"(?:[^"\\]|\\[\s\S])*+\"?""")
_PATH = re.compile(r"(?<![\w.])(?:self|oldSelf)((?:\.[A-Za-z_]\w*)+)(\s*\()?")


def find_undefined(text: str, schema: Object) -> str:
    """The error for a field that a rule names and the schema lacks, in the compiler's words."""
    for match in _PATH.finditer(_LITERAL.sub(_blank, text)):
        names = match[1].split(".")[1 : -1 if match[2] else None]
        place, position = schema, match.start(1)
        for name in names:
            fields = _fields_of(place)
            if not fields:
                break
            if name not in fields:
                return _explain(text, name, position)
            place = fields[name]
            position += len(name) + 1
    return ""


def _fields_of(schema: Object) -> dict[str, Object]:
    if schema.get("type") != "object":
        return {}
    properties: dict[str, Object] = schema.get("properties") or {}
    return {find_spelling(name) or "": inner for name, inner in properties.items()}


def _explain(text: str, name: str, position: int) -> str:
    return (
        f"compilation failed: ERROR: <input>:1:{position + 1}: undefined field '{name}'\n"
        f" | {text}\n | {'.' * position}^"
    )


def _blank(match: re.Match[str]) -> str:
    """A literal as blanks of the same length, so that positions hold."""
    return " " * len(match[0])
