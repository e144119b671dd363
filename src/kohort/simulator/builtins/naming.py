"""
Names that controllers make up, derived from what they name.

A real controller draws random letters or hashes a template. Here everything is
a hash, so that a step that is repeated makes the same name again, and a create
that meets its own earlier work is a success. The alphabet has no vowels and no
look-alikes, as users are used to.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Any

import orjson

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193
# The escapes that a real control plane writes into JSON; they are part of what is hashed.
_ESCAPES = ((b"<", b"\\u003c"), (b">", b"\\u003e"), (b"&", b"\\u0026"))


def canonical(value: Any) -> bytes:
    """A JSON value as bytes: equal values give equal bytes."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def hash_revision(data: Any, collisions: int) -> str:
    """The hash of a controller revision's data, the same as a real control plane's."""
    encoded = canonical(data)
    for raw, escaped in _ESCAPES:
        encoded = encoded.replace(raw, escaped)
    return _spell(_fnv32(encoded + str(collisions).encode()))


def hash_template(template: Any, collisions: int) -> str:
    """A hash of a pod template, in the form (not the value) of a real pod-template-hash."""
    digest = blake2b(canonical(template) + str(collisions).encode(), digest_size=4).digest()
    return _spell(int.from_bytes(digest, "big"))


def make_suffix(*parts: str | int) -> str:
    """Five letters that stand for the parts, as a random suffix of a generated name looks."""
    digest = blake2b("/".join(map(str, parts)).encode(), digest_size=5).digest()
    return "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest)


@lru_cache(1024)
def _fnv32(data: bytes) -> int:
    value = _FNV_OFFSET
    for byte in data:
        value = ((value * _FNV_PRIME) & 0xFFFFFFFF) ^ byte
    return value


def _spell(number: int) -> str:
    # The decimal digits, each replaced by a letter of the alphabet.
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(number))
