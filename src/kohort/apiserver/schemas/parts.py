"""
Large parts that schemas have in common, such as the pod template: each is looked at once.

A definition has no references, so a pod template is written out wherever one is used, and sixty
times in our own definitions. Whoever walks through a schema looks at such a part the first time
and remembers that nothing was found in it. Parts are known by their hash. What they are asked
for, and what around them matters for the answer, belongs to the question.
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
    """What is found in a schema; nothing, without a look, if this was the answer before."""
    part = hash_part(schema)
    if not part:
        return find()
    if (question, part) in _nothing_found:
        return ()
    found = list(find())
    if not found:
        _nothing_found.remember((question, part), True)
    return found
