"""
An upper bound on how many copies of a value a CEL expression can make, from its text.

``cel.bind(b, a + a, cel.bind(c, b + b, …))`` doubles a text with every step, and so does a chain
of maps. If the bound expression names one variable three times, the new variable may hold three
copies of it; the numbers of all bindings multiply. Different fields of one variable count as one
copy, since together they are no larger than the variable.
"""

import re
from collections import Counter
from collections.abc import Iterator

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
