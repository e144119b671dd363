"""
Validation errors: what is wrong with one field of an object, in the API server's words.

The texts are part of the contract: clients match on them, and people search
for them. So they are made in one place, from a value.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

import orjson


class FieldErrorType(StrEnum):
    """The kinds of validation error; the value is the reason in ``details.causes``."""

    REQUIRED = "FieldValueRequired"
    INVALID = "FieldValueInvalid"
    TYPE_INVALID = "FieldValueTypeInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    DUPLICATE = "FieldValueDuplicate"
    NOT_FOUND = "FieldValueNotFound"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"


_TITLES = {
    FieldErrorType.REQUIRED: "Required value",
    FieldErrorType.INVALID: "Invalid value",
    FieldErrorType.TYPE_INVALID: "Invalid value",
    FieldErrorType.NOT_SUPPORTED: "Unsupported value",
    FieldErrorType.DUPLICATE: "Duplicate value",
    FieldErrorType.NOT_FOUND: "Not found",
    FieldErrorType.FORBIDDEN: "Forbidden",
    FieldErrorType.TOO_LONG: "Too long",
    FieldErrorType.TOO_MANY: "Too many",
}
_WITHOUT_VALUE = {FieldErrorType.REQUIRED, FieldErrorType.FORBIDDEN, FieldErrorType.TOO_LONG}


class _Omitted:
    """The type of ``OMITTED``."""


# Stands for a value that is too large for a message: the error names only the field.
OMITTED = _Omitted()


@dataclass(frozen=True, slots=True)
class FieldError:
    """One broken rule: the field's path, the kind of error, and the bad value."""

    fault: FieldErrorType
    path: str
    detail: str = ""
    value: Any = None

    def text(self) -> str:
        """The sentence without the path, as it stands in a cause."""
        title = _TITLES[self.fault]
        if self.fault not in _WITHOUT_VALUE and self.value is not OMITTED:
            title = f"{title}: {show(self.value)}"
        return f"{title}: {self.detail}" if self.detail else title

    def __str__(self) -> str:
        return f"{self.path}: {self.text()}"

    def cause(self) -> dict[str, str]:
        """The error as an entry of ``details.causes``."""
        return {"reason": self.fault.value, "message": self.text(), "field": self.path}


def show(value: Any) -> str:
    """A value as error messages print it: strings quoted, the rest as JSON."""
    if isinstance(value, float):
        return show_float(value)
    if not isinstance(value, dict | list):
        return orjson.dumps(value).decode()
    text = orjson.dumps(_simplify(value), option=orjson.OPT_SORT_KEYS).decode()
    for char in "<>&":
        text = text.replace(char, f"\\u00{ord(char):02x}")
    return text


def show_float(value: float) -> str:
    """A float in the fewest digits, with an exponent from a million on and below 0.0001."""
    if value == 0:
        return "0"
    number = Decimal(repr(value)).normalize()
    size = number.adjusted()
    if -4 <= size < 6:
        return format(number, "f")
    sign = "-" if size < 0 else "+"
    return f"{number.scaleb(-size):f}e{sign}{abs(size):02d}"


def _simplify(value: Any) -> Any:
    """A value whose whole floats are integers, as JSON writes them."""
    if isinstance(value, dict):
        return {key: _simplify(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_simplify(inner) for inner in value]
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e21
    return int(value) if whole else value


def aggregate(errors: Sequence[FieldError]) -> str:
    """Several errors as one text: bare if there is one, else in brackets, repeats dropped."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
