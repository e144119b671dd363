"""
Field names as CEL expressions write them, with escapes for reserved words and symbols.

An expression cannot say ``self.a-b`` or ``self.namespace``, so such names are
written with their special parts spelled out. A name that has no spelling is
not visible to expressions at all.
"""

import re

_RESERVED = re.compile(
    "true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package"
    "|namespace|return|var|void|while"
)
_SPECIAL = re.compile(r"__|[-./]")
_SPELLED = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_PLAIN = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*")


def find_spelling(name: str) -> str | None:
    """How expressions write the name of a field; None if they cannot."""
    if _RESERVED.fullmatch(name):
        return f"__{name}__"
    if not _PLAIN.fullmatch(name):
        return None
    return _SPECIAL.sub(lambda match: _SPELLED[match[0]], name)
