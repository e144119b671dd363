"""
The part of JSONPath that printer columns, scale paths and field selectors use.

A compiled path maps an object to the values it leads to, in order, and never
fails: what is missing leads to nothing. The dialect is kubectl's, in which a
dot inside a name is written with a backslash.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from kohort.cluster.errors import KohortError
from kohort.cluster.objects import Object

Path = Callable[[Object], list[Any]]
_Step = Callable[[Any], Iterator[Any]]

_NAME = re.compile(r"(?:\\.|[^\s.\[\](){},?@$'\"=<>!|&])+")
_SLICE = re.compile(r"(-?\d+)?:(-?\d+)?(?::(-?\d+))?")
_FILTER = re.compile(r"\?\((?P<inner>.*)\)", re.DOTALL)
_COMPARISON = re.compile(r"(?P<left>.*?)(?P<sign>==|!=|<=|>=|<|>)(?P<right>.*)", re.DOTALL)
_QUOTED = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")


class PathError(KohortError):
    """The text is no path; the message names the position of the error."""


def compile_path(text: str) -> Path:
    """Compile a path such as ``.spec.replicas``; raises ``PathError``."""
    steps = _parse(text.strip().removeprefix("{").removesuffix("}"))

    def find(value: Any) -> list[Any]:
        found = [value]
        for step in steps:
            found = [inner for entry in found for inner in step(entry)]
        return found

    return find


def _parse(text: str) -> list[_Step]:
    steps: list[_Step] = []
    position = 1 if text[:1] in ("$", "@") else 0
    while position < len(text):
        step, position = _parse_step(text, position)
        if step is not None:
            steps.append(step)
    return steps


def _parse_step(text: str, position: int) -> tuple[_Step | None, int]:
    if text[position] == "[":
        end = _find_closing(text, position)
        return _parse_bracket(text[position + 1 : end].strip()), end + 1
    deep = text.startswith("..", position)
    start = position + (2 if deep else 1 if text[position] == "." else 0)
    if text.startswith("*", start):
        return _every, start + 1
    match = _NAME.match(text, start)
    if match is None:
        if start == len(text) and not deep:
            return None, start
        if text.startswith("[", start):
            return (_everything if deep else None), start
        raise PathError(f"unrecognized character in path at {text[position:]!r}")
    name = re.sub(r"\\(.)", r"\1", match[0])
    return (_below(name) if deep else _field(name)), match.end()


def _find_closing(text: str, position: int) -> int:
    """Where the bracket closes that opens at a position; quoted ones do not count."""
    depth, quote, index = 0, "", position
    while index < len(text):
        char = text[index]
        if quote:
            index += char == "\\"
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char == "[") - (char == "]")
            if depth == 0:
                return index
        index += 1
    raise PathError(f"unterminated array in path at {text[position:]!r}")


def _parse_bracket(inner: str) -> _Step:
    if inner == "*":
        return _every
    if match := _FILTER.fullmatch(inner):
        return _parse_filter(match["inner"].strip())
    if match := _SLICE.fullmatch(inner):
        return _slice(*(int(part) if part else None for part in match.groups()))
    parts = [_parse_choice(part.strip()) for part in _split_choices(inner)]
    if len(parts) == 1:
        return parts[0]
    return lambda value: (found for part in parts for found in part(value))


def _split_choices(inner: str) -> list[str]:
    return re.findall(r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,'"])+""", inner) or [inner]


def _parse_choice(part: str) -> _Step:
    if re.fullmatch(r"-?\d+", part):
        return _index(int(part))
    if match := _QUOTED.fullmatch(part):
        return _field(_unquote(match))
    raise PathError(f"invalid array index {part!r}")


def _unquote(match: re.Match[str]) -> str:
    raw = match[1] if match[1] is not None else match[2]
    return re.sub(r"\\(.)", r"\1", raw)


def _parse_filter(inner: str) -> _Step:
    match = _COMPARISON.match(inner)
    if match is None:
        left = _operand(inner)
        return lambda value: (entry for entry in _entries(value) if left(entry))
    left, right, sign = _operand(match["left"]), _operand(match["right"]), match["sign"]

    def choose(value: Any) -> Iterator[Any]:
        for entry in _entries(value):
            pairs = zip(left(entry)[:1], right(entry)[:1], strict=False)
            if any(_compare(first, sign, second) for first, second in pairs):
                yield entry

    return choose


def _operand(text: str) -> Path:
    """One side of a comparison: a path from the entry, or a literal."""
    text = text.strip()
    if text.startswith("@"):
        return compile_path(text[1:] or ".")
    if match := _QUOTED.fullmatch(text):
        literal: Any = _unquote(match)
    elif text in ("true", "false"):
        literal = text == "true"
    else:
        try:
            literal = float(text) if "." in text else int(text)
        except ValueError:
            raise PathError(f"unrecognized value {text!r} in filter") from None
    return lambda _: [literal]


def _compare(first: Any, sign: str, second: Any) -> bool:
    if sign in ("==", "!="):
        same = first == second and isinstance(first, bool) == isinstance(second, bool)
        return same == (sign == "==")
    numbers = (int, float)
    both_numbers = isinstance(first, numbers) and isinstance(second, numbers)
    if not both_numbers and not (isinstance(first, str) and isinstance(second, str)):
        return False
    if sign in ("<=", ">=") and first == second:
        return True
    return bool(first < second) if sign.startswith("<") else bool(first > second)


def _field(name: str) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if type(value) is dict and name in value:
            yield value[name]

    return step


def _index(position: int) -> _Step:
    def step(value: Any) -> Iterator[Any]:
        if type(value) is list and -len(value) <= position < len(value):
            yield value[position]

    return step


def _slice(start: int | None = None, end: int | None = None, by: int | None = None) -> _Step:
    if by is not None and by <= 0:
        raise PathError("step must be > 0")

    def step(value: Any) -> Iterator[Any]:
        if type(value) is list:
            yield from value[start:end:by]

    return step


def _below(name: str) -> _Step:
    field = _field(name)
    return lambda value: (found for entry in _everything(value) for found in field(entry))


def _every(value: Any) -> Iterator[Any]:
    yield from _entries(value)


def _everything(value: Any) -> Iterator[Any]:
    """A value and all values inside it."""
    yield value
    for inner in _entries(value):
        yield from _everything(inner)


def _entries(value: Any) -> list[Any]:
    if type(value) is list:
        return value
    return list(value.values()) if type(value) is dict else []
