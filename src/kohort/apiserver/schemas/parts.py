"""
Large parts that schemas have in common, such as the pod template: each is checked once.

A definition has no references, so a pod template is written out wherever one is used, and sixty
times in our own definitions. A check of schemas walks through such a part the first time; if it
finds no error there, it skips every equal part later. Parts are compared by their hash. The
``question`` names the check, and the context of the part on which its result depends.
"""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from kohort.apiserver.schemas.result_cache import ResultCache, hash_schema
from kohort.cluster.objects import Object

T = TypeVar("T")
_FIELDS_MIN = 10  # Smaller parts are walked through faster than they are hashed.
_nothing_found: ResultCache[tuple[Hashable, bytes], bool] = ResultCache(4096)


def hash_part(schema: Object) -> bytes:
    """The hash of a large part; empty if it is small, or cannot be hashed."""
    return hash_schema(schema) if len(schema.get("properties") or ()) >= _FIELDS_MIN else b""


def look_once(question: Hashable, schema: Object, find: Callable[[], Iterable[T]]) -> Iterable[T]:
    """The results of ``find``, which is not called if it found nothing in an equal part before."""
    part = hash_part(schema)
    if not part:
        return find()
    if (question, part) in _nothing_found:
        return ()
    found = list(find())
    if not found:
        _nothing_found.remember((question, part), True)
    return found
