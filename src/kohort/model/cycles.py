"""
Cycles among names that come after each other: what can never begin.
"""

from collections.abc import Mapping


def find_cycle(after: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Names that wait for each other in a circle, in order, the first again at the end; or none."""
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
