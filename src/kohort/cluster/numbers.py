"""
Whole numbers in texts, as Go reads them: ASCII digits, and no more of them than 64 bits hold.
Counts of pods, groups and seconds in labels and annotations have fewer digits.

Python's ``isdigit`` accepts characters that ``int`` refuses, such as ``²``, and ``int`` refuses
thousands of digits. So numbers in texts that users or clients send are read here.
"""

from kohort.cluster.fields import show

_DIGITS_MAX = 20
# Counts have 32 bits.
_COUNT_DIGITS_MAX = 10


def find_whole(text: str) -> int | None:
    """The number in a text of digits; None if it is no number, or too large."""
    if not (text.isascii() and text.isdigit()):
        return None
    digits = text.lstrip("0") or "0"
    number = int(digits) if len(digits) <= _DIGITS_MAX else 2**64
    return number if number < 2**64 else None


def find_count(text: str) -> int | None:
    """The count in a text of at most ten digits; None if it is no number or has more of them."""
    is_count = len(text) <= _COUNT_DIGITS_MAX and text.isdecimal() and text.isascii()
    return int(text) if is_count else None


def explain_whole(text: str) -> str:
    """Why a text is no unsigned number, in the words of Go."""
    is_number = text.isascii() and text.isdigit()
    why = "value out of range" if is_number else "invalid syntax"
    return f"strconv.ParseUint: parsing {show(text)}: {why}"
