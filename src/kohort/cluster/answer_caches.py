"""
Answers that are kept for the next who asks the same of a text.

A cache that counts its answers alone is no bound: whoever may send an object may send texts of a
megabyte, and thousands of them would be kept. Answers to long texts are worked out each time;
names, keys and amounts that repeat from object to object are short.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Answer = TypeVar("Answer")

KEPT_LENGTH_MAX = 512


def keep_answers(count_max: int) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Keep so many answers of a function, and those to short texts only."""

    def keep(answer: Callable[[str], Answer]) -> Callable[[str], Answer]:
        kept = lru_cache(maxsize=count_max)(answer)

        @wraps(answer)
        def ask(text: str) -> Answer:
            return kept(text) if len(text) <= KEPT_LENGTH_MAX else answer(text)

        return ask

    return keep
