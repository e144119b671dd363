"""
A cache for pure functions of one text: the result for a short text is kept for later calls.

A limit on the number of results does not bound the memory: a client may send texts of a megabyte,
and thousands of them would be kept. So results for long texts are computed at each call; names,
keys and amounts that repeat from object to object are short.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Answer = TypeVar("Answer")

KEPT_LENGTH_MAX = 512


def keep_answers(count_max: int) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Cache at most so many results of a function, for short texts only."""

    def keep(answer: Callable[[str], Answer]) -> Callable[[str], Answer]:
        kept = lru_cache(maxsize=count_max)(answer)

        @wraps(answer)
        def ask(text: str) -> Answer:
            return kept(text) if len(text) <= KEPT_LENGTH_MAX else answer(text)

        return ask

    return keep
