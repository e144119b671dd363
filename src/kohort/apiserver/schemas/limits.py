"""
Limits of one object: its size, and the nesting depth of its JSON text, before it is parsed.

The size is that of a real server's etcd. A real server takes ten thousand levels. The code here
recurses once for each level, so its limit is lower: the call stack has room for it, and no real
manifest comes near it.
"""

import re
from itertools import accumulate
from typing import Any

from kohort.cluster.errors import BareError

OBJECT_BYTES_MAX = 3 * 512 * 1024


def too_large_to_store() -> BareError:
    """The error for a write beyond the limit, in etcd's words."""
    return BareError("etcdserver: request is too large")


DEPTH_MAX = 200
TOO_DEEP = "exceeded max depth"

# An unterminated string is taken whole: else the search starts again at each quote.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_DEPTH_OF_OWNERS = 8  # A field's entry in managedFields is nested a little deeper than the field.
_PIECE_BYTES = 64 * 1024
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def is_too_deep(raw: bytes) -> bool:
    """Whether a JSON text is nested deeper than the limit; takes linear time."""
    if raw.count(b"{") + raw.count(b"[") <= DEPTH_MAX:
        return False
    brackets = _STRING.sub(b"", raw).translate(None, delete=_NOT_BRACKETS)
    depth = 0
    # In pieces, so that other threads can run in between.
    for start in range(0, len(brackets), _PIECE_BYTES):
        piece = brackets[start : start + _PIECE_BYTES]
        depths = list(accumulate(map(_STEPS.__getitem__, piece), initial=depth))
        if max(depths) > DEPTH_MAX:
            return True
        depth = depths[-1]
    return False


def is_value_too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than the limit; its parts may be shared."""
    level = [value]
    for _ in range(DEPTH_MAX + _DEPTH_OF_OWNERS):
        inner = {
            id(item): item
            for holder in level
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, dict | list)
        }
        if not inner:
            return False
        level = list(inner.values())
    return True
