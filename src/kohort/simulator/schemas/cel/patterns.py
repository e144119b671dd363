"""
Regular expressions of the API, which are RE2, in terms of Python's.

Three differences matter: the end anchor of RE2 never stops before a final line
break, its classes such as ``\\d`` are ASCII only, and it knows POSIX classes.
What has no counterpart here is refused with the definition that uses it.
"""

import re

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7F",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_POSIX_CLASS = re.compile(r"\[:(\w+):\]")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The pattern, ready to search with; raises ``re.error`` if it cannot be said in Python."""
    return re.compile(_translate(pattern), re.ASCII)


def _translate(pattern: str) -> str:
    out: list[str] = []
    position, inside = 0, False
    multiline = "(?m" in pattern or "(?im" in pattern
    while position < len(pattern):
        char = pattern[position]
        if char == "\\" and position + 1 < len(pattern):
            out.append(_escape(pattern[position : position + 2]))
            position += 2
            continue
        if inside and (posix := _POSIX_CLASS.match(pattern, position)):
            out.append(_posix(posix[1]))
            position = posix.end()
            continue
        if char == "[" and not inside:
            inside, length = True, _class_opening(pattern, position)
            out.append(pattern[position : position + length])
            position += length
            continue
        inside = inside and char != "]"
        ends = char == "$" and not inside and not multiline
        # A bracket inside a class is an ordinary character, which Python warns about.
        out.append("\\Z" if ends else "\\[" if inside and char == "[" else char)
        position += 1
    return "".join(out)


def _class_opening(pattern: str, position: int) -> int:
    """How much opens a class: a bracket that comes first in it is an ordinary character."""
    length = 1
    if pattern.startswith("^", position + 1):
        length = 2
    return length + 1 if pattern.startswith("]", position + length) else length


def _escape(pair: str) -> str:
    return "\\Z" if pair == "\\z" else pair


def _posix(name: str) -> str:
    if name not in _POSIX:
        raise re.error(f"unknown character class [:{name}:]")
    return _POSIX[name]
