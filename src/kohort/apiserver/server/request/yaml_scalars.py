"""
The value of a YAML scalar: a bool, a number, null, or a string.

This follows the library of a real server and not the standard: ``y`` is true, ``1:30`` is a
text, ``0123`` is octal, and a number too large for 64 bits is a float or, failing that, a text.
"""

import base64
import binascii
import math
import re
from typing import Any

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
