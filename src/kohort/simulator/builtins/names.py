"""
Names that controllers generate, from hashes of what they name.

A real controller draws random letters or hashes a template. Here everything is
a hash, so that a step that is repeated makes the same name again, and a create
that meets its own earlier work is a success. The alphabet has no vowels and no
look-alikes, as users are used to.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Any

from kohort.cluster.objects import encode_json

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_FNV_OFFSET = 0x811C9DC5
_FNV_PRIME = 0x01000193


def canonical(value: Any) -> bytes:
    """A JSON value as Go writes it: equal values give equal bytes."""
    return encode_json(value, sort=True)


def hash_revision(data: Any, collisions: int) -> str:
    """The hash of a controller revision's data, the same as a real control plane's."""
    return _spell(_fnv32(canonical(data) + str(collisions).encode()))


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
