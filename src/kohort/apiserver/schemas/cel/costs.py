"""
An upper bound on the cost of evaluating a CEL expression, computed beforehand.

The engine counts nothing and cannot be stopped: while it runs, the event loop stands still. So
the cost is bounded from the text of the expression and the size of its values. A step costs one,
and a tenth for each character of the longest text, as a real server counts; a loop takes a turn
for each entry of the longest list, and loops in loops multiply, up to where the engine gives up.
This is an upper bound. A real server counts what is done, and allows twice as much for a call
and ten times as much for a request.

Copies of a value are bounded in the same way: ``cel.bind(b, a + a, cel.bind(c, b + b, …))`` doubles
a text with every step, and so does a chain of maps. If the bound expression names one variable
three times, the new variable may hold three copies of it; the numbers of all bindings multiply.
Different fields of one variable count as one copy, since together they are no larger than the
variable.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

COPIES_MAX = 2**40
# Deeper nesting of brackets would take quadratic time, and no real rule has it.
_NESTING_MAX = 64
_BINDING = re.compile(r"\bcel\s*\.\s*bind\s*\(|\.\s*(?:map|transformList|transformMap\w*)\s*\(")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_CHAIN = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*(?!\w*\s*\())*")
_ROOTS = ("self", "oldSelf", "oldSelves")
_OPEN = "([{"
_MARK = re.compile(r"[(\[{)\]},]")


def count_copies(text: str) -> int:
    """The bound on copies, for an expression whose strings and comments are blanked out."""
    places = _split_arguments(text)
    if places is None:
        return COPIES_MAX
    calls = [(found[0], places[found.end()]) for found in _BINDING.finditer(text)]
    names = {*_ROOTS, *(name for _, arguments in calls for name in _find_names(arguments))}
    copies = 1
    for call, arguments in calls:
        # cel.bind binds its second argument; a map's last argument is the new entry.
        bound = arguments[min(1, len(arguments) - 1) if "bind" in call else -1]
        copies = min(COPIES_MAX, copies * max(1, _count_named(bound, names)))
    return copies


def _find_names(arguments: list[str]) -> Iterator[str]:
    for part in arguments[:-1]:
        if found := _NAME.fullmatch(part):
            yield found[1]


def _count_named(text: str, names: set[str]) -> int:
    """The highest number of times that one variable, or a part of it, is named in a text."""
    chains = [re.sub(r"\s", "", found[0]) for found in _CHAIN.finditer(text)]
    counts = Counter(chain for chain in chains if chain.partition(".")[0] in names)
    return max((_count_holders(chain, counts) for chain in counts), default=1)


def _count_holders(chain: str, counts: Counter[str]) -> int:
    steps = chain.split(".")
    return sum(counts[".".join(steps[:length])] for length in range(1, len(steps) + 1))


def _split_arguments(text: str) -> dict[int, list[str]] | None:
    """The arguments in each bracket, by the position after it opens; None if nested too deep."""
    found: dict[int, list[str]] = {}
    starts: list[tuple[int, int]] = []  # of the bracket, and of the argument in it
    for mark in _MARK.finditer(text):
        place, char = mark.start(), mark[0]
        if char in _OPEN:
            starts.append((place + 1, place + 1))
            if len(starts) > _NESTING_MAX:
                return None
        elif starts:
            bracket, begin = starts.pop()
            found.setdefault(bracket, []).append(text[begin:place])
            if char == ",":
                starts.append((bracket, place + 1))
    for bracket, begin in starts:
        found.setdefault(bracket, []).append(text[begin:])
    return found


CALL_MAX = 500_000
REQUEST_MAX = 1_000_000
TURNS_MAX = 10_000
_CALL = 20  # of one call of the engine
# In raw texts a backslash is a character like others; in other texts it begins an escape. A text
# without an end goes on to the end: it would be looked for again from each of its quotes.
_RAW = r"""(?:"{3}[\s\S]*?(?:"{3}|\Z)|'{3}[\s\S]*?(?:'{3}|\Z)|"[^"]*+"?|'[^']*+'?)"""
_ESCAPED = (
    r"""(?:"{3}(?:[^\\]|\\[\s\S])*?(?:"{3}|\\?\Z)|'{3}(?:[^\\]|\\[\s\S])*?(?:'{3}|\\?\Z)"""
    r"""|"(?:[^"\\]|\\[\s\S])*+"?|'(?:[^'\\]|\\[\s\S])*+'?)"""
)
TEXT = re.compile(rf"(?:[bB]?[rR][bB]?{_RAW}|{_ESCAPED})")
# One pattern for both: a quote in a comment begins no string, nor slashes in a string a comment.
_TEXT_OR_COMMENT = re.compile(rf"{TEXT.pattern}|//[^\n]*")
# So many copies of a value cost nothing, since they take no noticeable time.
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
    """The rules of one request have used up its budget."""


class Budget:
    """The cost that the rules of one request may still have."""

    def __init__(self, left: int = REQUEST_MAX) -> None:
        self._left = left

    def spend(self, cost: int) -> None:
        """Subtract a cost; raises ``OutOfBudgetError`` below zero."""
        self._left -= cost
        if self._left < 0:
            raise OutOfBudgetError


@dataclass(frozen=True, slots=True)
class Costs:
    """Facts from the text of an expression that bound its cost."""

    depth: int  # of loops in loops
    steps: int
    growth: int  # how much longer texts may become
    copies: int  # how many copies of a value the result may hold

    def estimate(self, values: Iterable[Any], times: int = 1) -> int:
        """The bound on the cost of so many evaluations with these values."""
        if times == 1 and not self.depth and self.growth == 1 and self.copies <= _COPIES_FREE:
            # A single pass over a stored object takes no noticeable time.
            return _CALL + self.steps
        longest, entries = measure(values)
        largest = max(longest, entries) if self.copies > _COPIES_FREE else longest
        turns = min(TURNS_MAX, int(max(1, entries) ** self.depth))
        # The values are converted for the engine at each evaluation.
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
    """How deep loops are nested."""
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
