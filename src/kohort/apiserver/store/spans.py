"""
Spans: the objects of a bucket in the order of their keys, as they were at one version.

Nothing is copied: a span looks at the live keys and puts back what has changed since,
so a page costs what it shows and not what the bucket holds. Read it before the next
write.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge

from kohort.apiserver.store.entries import StoredObject

Key = tuple[str, str]


class Span:
    """A stretch of one bucket."""

    def __init__(
        self,
        keys: Sequence[Key],
        entries: Mapping[Key, StoredObject],
        past: Mapping[Key, StoredObject | None],
        namespace: str | None,
        after: Key | None,
    ) -> None:
        self._keys = keys
        self._entries = entries
        self._past = past  # what was there for keys that have changed since
        start = 0 if namespace is None else bisect_left(keys, (namespace, ""))
        end = len(keys) if namespace is None else bisect_left(keys, (namespace + "\0", ""))
        self._start = start if after is None else max(start, bisect_right(keys, after))
        self._end = max(self._start, end)
        inside = [k for k in past if namespace is None or k[0] == namespace]
        self._changed = inside if after is None else [k for k in inside if k > after]

    def __iter__(self) -> Iterator[StoredObject]:
        entries, past = self._entries, self._past
        live = map(self._keys.__getitem__, range(self._start, self._end))
        if not past:
            return map(entries.__getitem__, live)
        gone = sorted(key for key in self._changed if key not in entries)
        return self._read_again(merge(live, gone) if gone else live)

    def _read_again(self, keys: Iterable[Key]) -> Iterator[StoredObject]:
        for key in keys:
            entry = self._past[key] if key in self._past else self._entries[key]
            if entry is not None:
                yield entry

    def __len__(self) -> int:
        count = self._end - self._start
        for key in self._changed:
            was, is_now = self._past[key] is not None, key in self._entries
            count += was - is_now
        return count
