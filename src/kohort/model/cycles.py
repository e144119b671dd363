"""
Cycles among roles or parts that wait for each other: none of them could ever start.
"""

from collections.abc import Mapping


def find_cycle(after: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return one cycle of names that wait for each other, with the first name repeated last."""
    done: set[str] = set()
    for start in after:
        path, stack = [start], [iter(after[start])]
        while stack:
            other = next(stack[-1], None)
            if other is None:
                done.add(path.pop())
                stack.pop()
            elif other in path:
                return (*path[path.index(other) :], other)
            elif other in after and other not in done:
                path.append(other)
                stack.append(iter(after[other]))
    return ()
