"""
How deep a JSON text is nested, told from its bytes before anybody parses it.

A real server takes ten thousand levels. Whatever walks over a value here goes one call deeper for
each of them, so the limit is what no call stack minds and no manifest comes near.
"""

import re
from itertools import accumulate

DEPTH_MAX = 200
TOO_DEEP = "exceeded max depth"

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def is_too_deep(raw: bytes) -> bool:
    """Whether a JSON text is nested deeper than the limit; takes time for each byte once."""
    if raw.count(b"{") + raw.count(b"[") <= DEPTH_MAX:
        return False
    brackets = _STRING.sub(b"", raw).translate(None, delete=_NOT_BRACKETS)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > DEPTH_MAX
