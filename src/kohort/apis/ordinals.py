"""
Ordinals at the end of names: ``web-3`` is the fourth of ``web``.

They are read as upstream controllers read them: the last run of digits behind a dash, at
most a signed 32-bit number. Digits of other scripts are no digits.
"""

import re

from kohort.cluster.numbers import find_count

_ORDINAL = re.compile(r"(.*)-([0-9]+)\Z", re.DOTALL)
_ORDINAL_MAX = 2**31 - 1


def find_ordinal(name: str) -> tuple[str, int] | None:
    """The parent's name and the ordinal at the end of a name; None if there is none."""
    found = _ORDINAL.match(name)
    ordinal = find_count(found[2].lstrip("0") or "0") if found else None
    if found is None or ordinal is None or ordinal > _ORDINAL_MAX:
        return None
    return found[1], ordinal
