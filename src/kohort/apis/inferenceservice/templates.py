"""
The few expressions of Go's templates that runtimes and domains use.

``{{ .Name }}`` and the like are replaced; a key that a map lacks becomes empty. All other braces
stay, since arguments of engines may contain braces of their own.
"""

import re
from collections.abc import Mapping
from typing import Any

_EXPRESSION = re.compile(r"\{\{-?\s*([^{}]*?)\s*-?\}\}")
_PATH = re.compile(r"\.([A-Za-z]+)(?:\.([A-Za-z0-9_]+))?")
_INDEX = re.compile(r"index\s+\.([A-Za-z]+)\s+[\"`]([^\"`]*)[\"`]")

Values = Mapping[str, str | Mapping[str, str]]


def render_text(text: str, values: Values) -> str:
    """A text with its known expressions replaced."""

    def replace(found: re.Match[str]) -> str:
        value = _evaluate(found[1], values)
        return found[0] if value is None else value

    return _EXPRESSION.sub(replace, text) if "{{" in text else text


def render_value(value: Any, values: Values) -> Any:
    """A value with every string in it rendered."""
    if isinstance(value, str):
        return render_text(value, values)
    if isinstance(value, list):
        return [render_value(inner, values) for inner in value]
    if isinstance(value, dict):
        return {name: render_value(inner, values) for name, inner in value.items()}
    return value


def _evaluate(expression: str, values: Values) -> str | None:
    found = _PATH.fullmatch(expression) or _INDEX.fullmatch(expression)
    if found is None or found[1] not in values:
        return None
    value = values[found[1]]
    if isinstance(value, str):
        return value if found[2] is None else None
    return None if found[2] is None else value.get(found[2], "")
