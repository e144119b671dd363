"""
Errors of malformed JSON and YAML, in the words of a real API server.

The fast parsers say where they stumbled, not in words that clients know. So a
body that does not parse, and only that, is read a second time, slowly. Go reads
bytes, so does this: a character of several bytes is known by its first.
"""

import re
from typing import Any

from kohort.apiserver.schemas.limits import TOO_DEEP, is_too_deep


class BadYaml(ValueError):
    """A text is not YAML; the message is that of a real server."""


class BadJson(ValueError):
    """A text is not JSON; the message is that of a real server."""


class BadNumber(BadJson):
    """A JSON text with a number that is too large for any type."""


_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_DIGITS = re.compile(r"[0-9]*")
_TEXT = r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"'
_SIMPLE = rf"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null|{_TEXT})"
# Runs of simple values with their commas, which make up most of a large body.
_ENTRIES = re.compile(rf"(?:[ \t\r\n]*+{_SIMPLE}[ \t\r\n]*+,)*+")
_FIELDS = re.compile(rf"(?:[ \t\r\n]*+{_TEXT}[ \t\r\n]*+:[ \t\r\n]*+{_SIMPLE}[ \t\r\n]*+,)*+")
_NUMBER_START = "-0123456789"
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_ESCAPES = '"\\/bfnrt'
_SHOWN_BYTES_MAX = 30

_TYPE_AND_KIND = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


class _Fault(Exception):
    """The place where reading stopped."""


def explain_json(raw: bytes) -> str:
    """Why a text is not JSON; None if it is, even if the fast parser rejects it."""
    if is_too_deep(raw):
        return TOO_DEEP
    try:
        _Reader(raw.decode("latin-1")).document()
    except _Fault as fault:
        return str(fault)
    return ""


class _Reader:
    """Walks over a JSON text, and raises at the first wrong character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> None:
        """The whole text: one value, and nothing after it."""
        self._value(self._peek())
        self._skip()
        if self.at < len(self.text):
            raise self._unexpected("after top-level value")

    def _after(self, pattern: re.Pattern[str]) -> int:
        """Where a pattern that fits everywhere ends."""
        found = pattern.match(self.text, self.at)
        assert found is not None
        return found.end()

    def _skip(self) -> None:
        self.at = self._after(_SPACE)

    def _char(self) -> str:
        if self.at >= len(self.text):
            raise _Fault("unexpected end of JSON input")
        return self.text[self.at]

    def _peek(self) -> str:
        self._skip()
        return self._char()

    def _unexpected(self, where: str) -> _Fault:
        return _Fault(f"invalid character {_quote(self._char())} {where}")

    def _value(self, first: str) -> None:
        if first == "{":
            self._object()
        elif first == "[":
            self._array()
        elif first == '"':
            self._string()
        elif first in _NUMBER_START:
            self._number()
        elif first in _LITERALS:
            self._literal(_LITERALS[first])
        else:
            raise self._unexpected("looking for beginning of value")

    def _object(self) -> None:
        self.at += 1
        if self._peek() == "}":
            self.at += 1
            return
        while True:
            self.at = self._after(_FIELDS)
            if self._peek() != '"':
                raise self._unexpected("looking for beginning of object key string")
            self._string()
            if self._peek() != ":":
                raise self._unexpected("after object key")
            self.at += 1
            self._value(self._peek())
            if self._closes("}", "after object key:value pair"):
                return

    def _array(self) -> None:
        self.at += 1
        if self._peek() == "]":
            self.at += 1
            return
        while True:
            self.at = self._after(_ENTRIES)
            self._value(self._peek())
            if self._closes("]", "after array element"):
                return

    def _closes(self, end: str, where: str) -> bool:
        char = self._peek()
        if char not in (",", end):
            raise self._unexpected(where)
        self.at += 1
        return char == end

    def _string(self) -> None:
        self.at += 1
        while True:
            self.at = self._after(_PLAIN)
            char = self._char()
            if char < " ":
                raise self._unexpected("in string literal")
            self.at += 1
            if char == '"':
                return
            self._escape()

    def _escape(self) -> None:
        char = self._char()
        if char == "u":
            for _ in range(4):
                self.at += 1
                if self._char() not in "0123456789abcdefABCDEF":
                    raise self._unexpected("in \\u hexadecimal character escape")
        elif char not in _ESCAPES:
            raise self._unexpected("in string escape code")
        self.at += 1

    def _number(self) -> None:
        if self._char() == "-":
            self.at += 1
            self._digit("in numeric literal")
        if self._char() == "0":
            self.at += 1
        else:
            self._digits()
        if self.text[self.at : self.at + 1] == ".":
            self.at += 1
            self._digit("after decimal point in numeric literal")
            self._digits()
        if self.text[self.at : self.at + 1] in ("e", "E"):
            self.at += 1
            self.at += self.text[self.at : self.at + 1] in ("+", "-")
            self._digit("in exponent of numeric literal")
            self._digits()

    def _digit(self, where: str) -> None:
        if self._char() not in "0123456789":
            raise self._unexpected(where)

    def _digits(self) -> None:
        self.at = self._after(_DIGITS)

    def _literal(self, word: str) -> None:
        for expected in word:
            if self._char() != expected:
                raise self._unexpected(f"in literal {word} (expecting '{expected}')")
            self.at += 1


def _quote(char: str) -> str:
    if char == "'":
        return "'\\''"
    shown = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\"}.get(char)
    if shown is None:
        shown = char if char.isprintable() else f"\\x{ord(char):02x}"
    return f"'{shown}'"


def explain_type(value: Any) -> str:
    """Why a well-formed value is not an object."""
    return (
        "couldn't get version/kind; json parse error: json: cannot unmarshal "
        f"{name_type(value)} into Go value of type {_TYPE_AND_KIND}"
    )


def name_type(value: Any) -> str:
    """The JSON type of a value, as error messages name it."""
    if isinstance(value, bool):
        return "bool"
    names: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


def show_body(raw: bytes) -> str:
    """The beginning of a body, for an error message."""
    if not raw:
        return "<empty>"
    cut = raw[:_SHOWN_BYTES_MAX]
    dots = " ..." if len(raw) > _SHOWN_BYTES_MAX else ""
    looks_like_json = raw.lstrip().startswith(b"{")
    return (cut.decode("utf-8", "replace") if looks_like_json else cut.hex()) + dots
