"""Constructors of field errors, and the few checks that many kinds share."""

from collections.abc import Iterable
from typing import Any

import orjson

from kohort.cluster.fields import FieldError
from kohort.cluster.fields import FieldErrorType as _Fault
from kohort.cluster.numbers import find_whole

NOT_NEGATIVE = "must be greater than or equal to 0"
IMMUTABLE = "field is immutable"
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def ordered(value: Any) -> Any:
    """The value with its keys unsorted: messages show Go structs in field order."""
    return orjson.Fragment(orjson.dumps(value))


def required(path: str, detail: str = "") -> FieldError:
    """The error for a missing required field."""
    return FieldError(_Fault.REQUIRED, path, detail)


def invalid(path: str, value: Any, detail: str = "") -> FieldError:
    """The error for a value that breaks a rule."""
    return FieldError(_Fault.INVALID, path, detail, value)


def forbidden(path: str, detail: str) -> FieldError:
    """The error for a field that must not be set or changed."""
    return FieldError(_Fault.FORBIDDEN, path, detail)


def duplicate(path: str, value: Any, detail: str = "") -> FieldError:
    """The error for a repeated value that must be unique."""
    return FieldError(_Fault.DUPLICATE, path, detail, value)


def not_found(path: str, value: Any) -> FieldError:
    """The error for a value that names something missing."""
    return FieldError(_Fault.NOT_FOUND, path, "", value)


def too_long(path: str, limit: int) -> FieldError:
    """The error for a value with too many bytes."""
    return FieldError(_Fault.TOO_LONG, path, f"may not be more than {limit} bytes")


def unsupported(path: str, value: Any, options: Iterable[str]) -> FieldError:
    """The error for a value that is none of the supported ones."""
    known = ", ".join(f'"{option}"' for option in options)
    return FieldError(_Fault.NOT_SUPPORTED, path, f"supported values: {known}", value)


def check_choice(path: str, value: Any, options: tuple[str, ...]) -> list[FieldError]:
    """Errors unless the value is one of the options."""
    return [] if value in options else [unsupported(path, value or "", options)]


def check_not_negative(path: str, value: Any) -> list[FieldError]:
    """Errors if the value is a negative number."""
    return [invalid(path, value, NOT_NEGATIVE)] if value is not None and value < 0 else []


def check_unchanged(path: str, new: Any, old: Any) -> list[FieldError]:
    """Errors if an immutable value has changed; missing and empty count as equal."""
    return [] if new == old or (not new and not old) else [invalid(path, new, IMMUTABLE)]


def check_amount(path: str, amount: Any) -> list[FieldError]:
    """Errors unless the value is a number that is not negative, or a percentage."""
    if isinstance(amount, str):
        if amount.endswith("%") and find_whole(amount[:-1]) is not None:
            return []
        return [invalid(path, amount, _PERCENT)]
    return check_not_negative(path, amount)


def check_share(path: str, amount: Any) -> list[FieldError]:
    """Errors unless the value is an amount, and as a percentage at most 100%."""
    faults = check_amount(path, amount)
    if not faults and isinstance(amount, str) and int(amount[:-1]) > 100:
        faults = [invalid(path, amount, "must not be greater than 100%")]
    return faults
