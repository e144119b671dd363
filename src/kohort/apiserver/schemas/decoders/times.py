"""
Times and bytes in the canonical form that the API writes.

Times come out in UTC: whole seconds, or six places where the type is a
MicroTime. Bytes come out as plain base64. What cannot be read raises
``ValueError`` with the text that a client of a real server sees, which for a
time names the first part of the layout that does not fit.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from datetime import UTC, datetime

_PLAIN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_PARTS = (
    ("2006", r"\d{4}"),
    ("-", "-"),
    ("01", r"\d\d"),
    ("-", "-"),
    ("02", r"\d\d"),
    ("T", "T"),
    ("15", r"\d\d?"),
    (":", ":"),
    ("04", r"\d\d"),
    (":", ":"),
    ("05", r"\d\d"),
)
_ZONE = ("Z07:00", r"Z|[+-]\d\d:\d\d")
_SECONDS_LAYOUT = (*_PARTS, ("", r"(?:[.,]\d+)?"), _ZONE)
_MICROS_LAYOUT = (*_PARTS, (".000000", r"\.\d{6}"), _ZONE)
_LIMITS = (("month", 2, 1, 12), ("hour", 6, 0, 23), ("minute", 8, 0, 59), ("second", 10, 0, 59))
_WHITE = str.maketrans("", "", "\r\n")


def canonical_time(text: str) -> str:
    """A time in whole seconds, in UTC."""
    if _PLAIN.fullmatch(text) and _is_real(text):
        return text
    return _read(text, _SECONDS_LAYOUT).isoformat(timespec="seconds") + "Z"


def canonical_micro_time(text: str) -> str:
    """A time in microseconds, in UTC."""
    return _read(text, _MICROS_LAYOUT).isoformat(timespec="microseconds") + "Z"


def canonical_bytes(text: str) -> str:
    """Bytes in base64, without line ends."""
    packed = text.translate(_WHITE)
    try:
        return b64encode(b64decode(packed, validate=True)).decode()
    except (Base64Error, ValueError):
        raise ValueError(f"illegal base64 data at input byte {_find_fault(packed)}") from None


def _is_real(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _read(text: str, layout: tuple[tuple[str, str], ...]) -> datetime:
    found: list[str] = []
    rest = text
    for part, pattern in layout:
        match = re.match(pattern, rest, re.ASCII)
        if match is None:
            shape = "".join(name for name, _ in layout)
            raise ValueError(
                f'parsing time "{text}" as "{shape}": cannot parse "{rest}" as "{part}"'
            )
        found.append(match[0])
        rest = rest[match.end() :]
    if rest:
        raise ValueError(f'parsing time "{text}": extra text: "{rest}"')
    return _build(text, found)


def _build(text: str, found: list[str]) -> datetime:
    for name, index, least, most in _LIMITS:
        if not least <= int(found[index]) <= most:
            raise ValueError(f'parsing time "{text}": {name} out of range')
    zone = found[12].replace("Z", "+00:00")
    if int(zone[1:3]) > 24:
        raise ValueError(f'parsing time "{text}": time zone offset hour out of range')
    clock = "".join(found[5:11]).replace("T", "").rjust(8, "0")
    micros = found[11][1:7].ljust(6, "0")
    try:
        moment = datetime.fromisoformat(f"{''.join(found[:5])}T{clock}.{micros}{zone}")
        return moment.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise ValueError(f'parsing time "{text}": day out of range') from None


def _find_fault(packed: str) -> int:
    """The position of the first invalid byte, as Go's base64 decoder counts."""
    match = re.match(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", packed)
    good = match.end() if match else 0
    tail = re.match(r"[A-Za-z0-9+/]*", packed[good:])
    bad = good + (tail.end() if tail else 0)
    return bad if bad < len(packed) and packed[bad] != "=" else good
