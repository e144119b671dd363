"""
String formats that the API checks; it ignores unknown formats.

Dashes in a format's name are ignored, so ``date-time`` and ``datetime`` are one.
The lenient ones are lenient on purpose: they accept what the API accepts, which
is not always what the standard of that name says. Patterns are compiled when a
value of their format first comes, since most servers never see one.
"""

import base64
import binascii
import ipaddress
import re
import unicodedata
from collections.abc import Callable
from datetime import date
from urllib.parse import urlsplit

from kohort.cluster.durations import find_signed_seconds

_HEX_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s-?%s-?[0-9a-f]{12}"
_ANY_GROUP = "[0-9a-f]{4}"
_VARIANT = "[89ab][0-9a-f]{3}"
_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))"
_WORD_DURATION = (
    r"\s*-?\d+\s*(ns|us|µs|ms|s|m|h|d|w|nano\w*|micro\w*|milli\w*|sec\w*|min\w*|hour\w*|hr\w*"
    r"|day\w*|week\w*|wk\w*)"
)
_CARD = (
    r"4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35\d{3})\d{11}"
)


def _matches(pattern: str, flags: int = 0) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text, flags) is not None


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10


def _is_date_time(text: str) -> bool:
    day, _, clock = text.lower().partition("t")
    match = re.fullmatch(_CLOCK, clock)
    if match is None or not _is_date(day):
        return False
    return match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _is_duration(text: str) -> bool:
    if find_signed_seconds(text) is not None:
        return True
    return re.match(_WORD_DURATION, text, re.IGNORECASE) is not None


def _is_uri(text: str) -> bool:
    if not text or any(ord(char) < 33 or ord(char) == 127 for char in text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return bool(parts.scheme) or text.startswith("/")


def _is_email(text: str) -> bool:
    # The module is large and the format is rare.
    from email.utils import parseaddr

    _, address = parseaddr(text)
    user, at, host = address.rpartition("@")
    return bool(user and at and host) and " " not in address


def _is_ipv4(text: str) -> bool:
    parts = text.split(".")
    return len(parts) == 4 and all(part.isdecimal() and int(part) <= 255 for part in parts)


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_cidr(text: str) -> bool:
    host, slash, bits = text.partition("/")
    if not slash or not bits.isdecimal():
        return False
    return (_is_ipv4(host) and int(bits) <= 32) or (_is_ipv6(host) and int(bits) <= 128)


def _is_hostname(text: str) -> bool:
    *labels, last = text.split(".")
    if not labels:
        rest = last[1:].removeprefix("-")
        return bool(last) and len(last) <= 63 and all(map(_is_host_char, last[0] + rest))
    ends = 2 <= len(last) <= 63 and all(unicodedata.category(char)[0] == "L" for char in last)
    return len(text) <= 255 and ends and all(map(_is_host_label, labels))


def _is_host_label(label: str) -> bool:
    if not label or len(label) > 63 or label.startswith("-") or label.endswith("-"):
        return False
    return all(char == "-" or _is_host_char(char) for char in label)


def _is_host_char(char: str) -> bool:
    """A digit, a letter of any script, or a symbol."""
    return char in "0123456789" or unicodedata.category(char)[0] in "LS"


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _is_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not re.fullmatch(_CARD, digits):
        return False
    doubled = [int(digit) * (2 if place % 2 else 1) for place, digit in enumerate(digits[::-1])]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return False
    numbers = [10 if digit == "X" else int(digit) for digit in digits]
    return sum(number * (place + 1) for place, number in enumerate(numbers)) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits)) % 10 == 0


_SHORT_NAME = _matches(_NAME)
_LONG_NAME = _matches(rf"{_NAME}(\.{_NAME})*")

FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"[0-9a-fA-F]{24}"),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "mac": _matches(
        r"([0-9a-fA-F]{2}([:-])([0-9a-fA-F]{2}\2){4}[0-9a-fA-F]{2})|([0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}"
    ),
    "uuid": _matches(_HEX_UUID % (_ANY_GROUP, _ANY_GROUP), re.IGNORECASE),
    "uuid3": _matches(_HEX_UUID % ("3[0-9a-f]{3}", _ANY_GROUP), re.IGNORECASE),
    "uuid4": _matches(_HEX_UUID % ("4[0-9a-f]{3}", _VARIANT), re.IGNORECASE),
    "uuid5": _matches(_HEX_UUID % ("5[0-9a-f]{3}", _VARIANT), re.IGNORECASE),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_card,
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(
        r"rgb\(\s*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*(,\s*(\d{1,2}|1\d\d|2[0-4]\d|25[0-5])\s*){2}\)"
    ),
    "byte": _is_base64,
    "password": lambda _: True,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_date_time,
    "k8sshortname": lambda text: len(text) <= 63 and _SHORT_NAME(text),
    "k8slongname": lambda text: len(text) <= 253 and _LONG_NAME(text),
}


def find_format(name: str) -> Callable[[str], bool] | None:
    """The check of a string format; None if the API does not know it."""
    return FORMATS.get(name.replace("-", ""))
