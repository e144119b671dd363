"""
The hash that names a revision: FNV in 32 bits, its digits spelled without vowels.

Upstream controllers of several APIs name revisions so, in labels that clients read. Most use
FNV-1, some FNV-1a. Each API decides which bytes to hash.
"""

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_FNV_OFFSET, _FNV_PRIME = 0x811C9DC5, 0x01000193


def hash_revision(data: bytes) -> str:
    """The FNV-1 hash of some bytes, spelled as in labels."""
    value = _FNV_OFFSET
    for byte in data:
        value = (value * _FNV_PRIME & 0xFFFFFFFF) ^ byte
    return _spell(value)


def hash_revision_a(data: bytes) -> str:
    """The FNV-1a hash of some bytes, spelled as in labels."""
    value = _FNV_OFFSET
    for byte in data:
        value = (value ^ byte) * _FNV_PRIME & 0xFFFFFFFF
    return _spell(value)


def _spell(value: int) -> str:
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))
