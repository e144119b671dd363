"""
Parses YAML into JSON values: times and keys are strings, unknown tags are ignored.

The library gives events, one at a time, and the value is put together here: its own way to do that
ends the process when a document is nested deep enough. How deep a document may be, and how much
of it may come from aliases, is decided before the memory is spent.

Scalars follow the library of a real server and not the standard: ``y`` is true, ``1:30`` is a
text, ``0123`` is octal, and a number too large for 64 bits is a float or, failing that, a text.

It stands apart because the library takes long to import and few requests need it.
"""

import base64
import binascii
import math
import re
from typing import Any

import yaml

from kohort.apiserver.schemas.limits import DEPTH_MAX, TOO_DEEP
from kohort.apiserver.schemas.structural.defaults import copy_json
from kohort.apiserver.server.request.syntax_errors import BadYaml

_PREFIX = "tag:yaml.org,2002:"
STR, INT, FLOAT, BOOL, NULL = (_PREFIX + name for name in ("str", "int", "float", "bool", "null"))
TIMESTAMP, BINARY, MERGE = (_PREFIX + name for name in ("timestamp", "binary", "merge"))
_JUDGED = (STR, INT, FLOAT, BOOL, NULL, TIMESTAMP)


def _spellings(*words: str) -> list[str]:
    return [form for word in words for form in (word, word.capitalize(), word.upper())]


_WORDS: dict[str, tuple[str, Any]] = {
    **{word: (BOOL, True) for word in _spellings("y", "yes", "true", "on")},
    **{word: (BOOL, False) for word in _spellings("n", "no", "false", "off")},
    **{word: (NULL, None) for word in ("", "~", *_spellings("null"))},
    **{word: (FLOAT, math.nan) for word in (".nan", ".NaN", ".NAN")},
    **{sign + word: (FLOAT, math.inf) for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{word: (FLOAT, -math.inf) for word in ("-.inf", "-.Inf", "-.INF")},
}
_INTEGER = re.compile(
    r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))"
)
_BASES = (16, 2, 8, 8, 10)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DIGITS_MAX = 64  # of a number of 64 bits, in the base that needs most


def read_scalar(tag: str | None, text: str, *, plain: bool) -> Any:
    """The value of a scalar with that tag; raises BadYaml if it cannot have it."""
    if tag == BINARY:
        return _decode(text)
    if (tag is None and not plain) or tag == STR or (tag is not None and tag not in _JUDGED):
        return text
    found, value = _resolve(text)
    if tag is None or tag == found:
        return value
    if tag == FLOAT and found == INT:
        return float(value)
    if tag == TIMESTAMP:
        return text
    raise BadYaml(f"yaml: cannot decode {_short(found)} `{text}` as a {_short(tag)}")


def _resolve(text: str) -> tuple[str, Any]:
    if (word := _WORDS.get(text)) is not None:
        return word
    if text[:1] not in "+-.0123456789":
        return STR, text
    digits = text if text.startswith(".") else text.replace("_", "")
    if (number := _find_integer(digits)) is not None:
        return INT, number
    if _FLOAT.fullmatch(digits) and math.isfinite(fraction := float(digits)):
        return FLOAT, fraction
    return STR, text


def _find_integer(text: str) -> int | None:
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    sign, *groups = found.groups()
    digits, base = next((d, b) for d, b in zip(groups, _BASES, strict=True) if d is not None)
    if len(digits) > _DIGITS_MAX:
        return None
    number = int(digits, base) * (-1 if sign == "-" else 1)
    # A number without a sign may use all 64 bits.
    return number if -(2**63) <= number < (2**63 if sign else 2**64) else None


def _decode(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise BadYaml("yaml: !!binary value contains invalid base64 data") from None


def _short(tag: str) -> str:
    return "!!" + tag.removeprefix(_PREFIX)


_ALIASES_FREE = 100  # values that may always come from aliases
_VALUES_FREE = 1_000
_VALUES_LOW, _VALUES_HIGH = 400_000, 4_000_000
_SHARE_LOW, _SHARE_HIGH = 0.99, 0.10  # of values from aliases, in small and in huge documents


def load(raw: bytes) -> Any:
    """The value of a YAML text; raises BadYaml."""
    try:
        return _Composer(raw).document()
    except yaml.YAMLError as error:
        raise BadYaml(_explain(error)) from None
    except UnicodeDecodeError:
        raise BadYaml("yaml: invalid leading UTF-8 octet") from None


class _Anchored:
    """The value of an anchor, and how many values it consists of; none while it is being read."""

    def __init__(self) -> None:
        self.value: Any = None
        self.count = 0


class _Composer:
    """Puts the first document of a text together from its events."""

    def __init__(self, raw: bytes) -> None:
        self._parser = yaml.CSafeLoader(raw)
        self._anchors: dict[str, _Anchored] = {}
        self._count = 0
        self._count_aliased = 0

    def document(self) -> Any:
        """The value of the first document; None if there is none."""
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        return self._value(self._next(), 1)

    def _next(self) -> yaml.Event:
        event = self._parser.get_event()
        assert event is not None, "documents end before their events do"
        return event

    def _value(self, event: yaml.Event, depth: int) -> Any:
        assert isinstance(event, yaml.NodeEvent)
        if depth > DEPTH_MAX:
            raise BadYaml(f"yaml: {TOO_DEEP} of {DEPTH_MAX}")
        before = self._count
        self._spend(1)
        if isinstance(event, yaml.AliasEvent):
            return self._repeat(event.anchor or "")
        anchor = None
        if event.anchor is not None:
            anchor = self._anchors[event.anchor] = _Anchored()
        if isinstance(event, yaml.ScalarEvent):
            value = read_scalar(event.tag, event.value, plain=event.implicit[0])
            if isinstance(value, float) and not math.isfinite(value):
                raise BadYaml(f"json: unsupported value: {_go_float(value)}")
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(depth)
        else:
            value = self._mapping(depth)
        if anchor is not None:
            anchor.value, anchor.count = value, self._count - before
        return value

    def _sequence(self, depth: int) -> list[Any]:
        items = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if _is_merge(event):
                _merge(fields, self._value(self._next(), depth + 1))
                continue
            key = self._value(event, depth + 1)
            value = self._value(self._next(), depth + 1)
            fields[_key(key, value)] = value
        return fields

    def _repeat(self, name: str) -> Any:
        anchor = self._anchors.get(name)
        if anchor is None:
            raise BadYaml(f"yaml: unknown anchor '{name}' referenced")
        if not anchor.count:
            raise BadYaml(f"yaml: anchor '{name}' value contains itself")
        self._spend(anchor.count, is_alias=True)
        return copy_json(anchor.value)

    def _spend(self, count: int, *, is_alias: bool = False) -> None:
        """Count values, and refuse a document that consists mostly of repeated aliases."""
        self._count += count
        self._count_aliased += count if is_alias else 0
        if self._count_aliased > _ALIASES_FREE and self._count > _VALUES_FREE:
            over = (self._count - _VALUES_LOW) / (_VALUES_HIGH - _VALUES_LOW)
            share = _SHARE_LOW - (_SHARE_LOW - _SHARE_HIGH) * min(max(over, 0.0), 1.0)
            if self._count_aliased / self._count > share:
                raise BadYaml("yaml: document contains excessive aliasing")


def _is_merge(event: yaml.Event) -> bool:
    if not isinstance(event, yaml.ScalarEvent) or event.value != "<<":
        return False
    return bool(event.implicit[0]) or event.tag == MERGE


def _merge(fields: dict[str, Any], value: Any) -> None:
    """Merge the fields of another mapping, or of several, of which the first wins."""
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise BadYaml("yaml: map merge requires map or sequence of maps as the value")
    for source in reversed(sources):
        fields.update(source)


def _key(key: Any, value: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, dict | list):
        raise BadYaml("yaml: invalid map key: a key is a text, a number or a truth")
    if key is None:
        shown = f'"{value}"' if isinstance(value, str) else value
        raise BadYaml(f"unsupported map key of type: %!s(<nil>), key: <nil>, value: {shown}")
    return str(key)


def _go_float(value: float) -> str:
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"


def _explain(error: yaml.YAMLError) -> str:
    """Why this is not YAML, with the line counted as a real server counts it."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return "yaml: control characters are not allowed"
    line = error.problem_mark.line if error.problem_mark else 0
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    where = f"line {line}: " if line else ""
    return f"yaml: {where}{error.problem}"
