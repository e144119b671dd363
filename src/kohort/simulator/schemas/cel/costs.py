"""
What an evaluation can cost at most, told before it begins.

The engine counts nothing and cannot be stopped: while it runs, nobody else does. So the cost is
bounded from the text of the expression and the size of its values. A step costs one, and a tenth
for each character of the longest text, as a real server counts; a loop takes a turn for each
entry of the longest list, and loops in loops multiply, up to where the engine gives up by itself.
This is an upper bound. A real server counts what is done, and allows twice as much for a call
and ten times as much for a request.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kohort.simulator.schemas.cel.copies import count_copies

CALL_MAX = 500_000
REQUEST_MAX = 1_000_000
TURNS_MAX = 10_000
_CALL = 20  # what it takes to ask the engine anything
# In raw texts a backslash is a character like others; in other texts it begins an escape. A text
# without an end goes on to the end: it would be looked for again from each of its quotes.
_RAW = r"""(?:"{3}[\s\S]*?(?:"{3}|\Z)|'{3}[\s\S]*?(?:'{3}|\Z)|"[^"]*+"?|'[^']*+'?)"""
_ESCAPED = (
    r"""(?:"{3}(?:[^\\]|\\[\s\S])*?(?:"{3}|\\?\Z)|'{3}(?:[^\\]|\\[\s\S])*?(?:'{3}|\\?\Z)"""
    r"""|"(?:[^"\\]|\\[\s\S])*+"?|'(?:[^'\\]|\\[\s\S])*+'?)"""
)
TEXT = re.compile(rf"(?:[bB]?[rR][bB]?{_RAW}|{_ESCAPED})")
# Whichever begins first: a quote in a comment begins no text, and slashes in a text no comment.
_TEXT_OR_COMMENT = re.compile(rf"{TEXT.pattern}|//[^\n]*")
# A value may come back so often without being weighed: nobody waits for that.
_COPIES_FREE = 16
_LOOP = re.compile(
    r"\.(?:all|exists|exists_one|existsOne|map|filter|transformList|transformMap\w*|sortBy)\s*$"
)
_LOOP_LENGTH_MAX = 32  # of such a name
_BRACKET = re.compile(r"[(\[{)\]}]")
_BLANKS = re.compile(r"\s+")
_STEP = re.compile(r"\w\s*\(|[-+*/%<>]|==|!=|\bin\b")
_REPLACE = re.compile(r"\.(?:replace|join|format)\s*\(")


class OutOfBudgetError(Exception):
    """The rules of one request have cost what they may."""


class Budget:
    """What is left for the rules of one request."""

    def __init__(self, left: int = REQUEST_MAX) -> None:
        self._left = left

    def spend(self, cost: int) -> None:
        """Take something off, or raise ``OutOfBudgetError``."""
        self._left -= cost
        if self._left < 0:
            raise OutOfBudgetError


@dataclass(frozen=True, slots=True)
class Costs:
    """What the text of an expression says about its cost."""

    depth: int  # of loops in loops
    steps: int
    growth: int  # how much longer texts may become
    copies: int  # how often a value may come back in another

    def estimate(self, values: Iterable[Any], times: int = 1) -> int:
        """What it can cost to evaluate so many times with these values."""
        if times == 1 and not self.depth and self.growth == 1 and self.copies <= _COPIES_FREE:
            # What looks once at what can be stored is done in no time.
            return _CALL + self.steps
        longest, entries = measure(values)
        largest = max(longest, entries) if self.copies > _COPIES_FREE else longest
        turns = min(TURNS_MAX, int(max(1, entries) ** self.depth))
        # Each time, the values are handed over anew.
        handing = _CALL + entries + longest // 10
        return times * (
            handing + self.steps * turns * (1 + largest * self.growth * self.copies // 10)
        )


def read_costs(text: str) -> Costs:
    """What the text of an expression says about its cost."""
    text = strip_comments(text)
    bare = _BLANKS.sub(" ", TEXT.sub('""', text))
    literals = [len(found[0]) for found in TEXT.finditer(text)]
    growth: int = max([2, *literals]) ** min(len(_REPLACE.findall(bare)), 4)
    return Costs(_find_depth(bare), 1 + len(_STEP.findall(bare)), growth, count_copies(bare))


def strip_comments(text: str) -> str:
    """The expression without its comments."""
    return _TEXT_OR_COMMENT.sub(lambda f: "" if f[0].startswith("//") else f[0], text)


def _find_depth(text: str) -> int:
    """How deep loops stand in loops."""
    stack: list[bool] = []
    depth = deepest = 0
    for mark in _BRACKET.finditer(text):
        position = mark.start()
        if mark[0] in "([{":
            is_loop = _LOOP.search(text, max(0, position - _LOOP_LENGTH_MAX), position) is not None
            stack.append(is_loop)
            depth += is_loop
            deepest = max(deepest, depth)
        elif stack:
            depth -= stack.pop()
    return deepest


def measure(values: Iterable[Any]) -> tuple[int, int]:
    """The lengths of the longest text and of the longest list or map in some values."""
    longest = entries = 0
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, str | bytes):
            longest = max(longest, len(value))
        elif isinstance(value, dict):
            entries = max(entries, len(value))
            waiting.extend(value.values())
            longest = max(longest, max(map(len, value), default=0))
        elif isinstance(value, list):
            entries = max(entries, len(value))
            waiting.extend(value)
    return longest, entries
