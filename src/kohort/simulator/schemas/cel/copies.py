"""
How often a value may come back in another one, told from the text of an expression.

``cel.bind(b, a + a, cel.bind(c, b + b, …))`` doubles a text with every step, and so does a chain
of maps. A name that is bound holds what it was bound to as often as that is named there; the
numbers of all bindings multiply. Different fields of a value are no more than the value.
"""

import re
from collections import Counter
from collections.abc import Iterator

COPIES_MAX = 2**40
_BINDING = re.compile(r"\bcel\s*\.\s*bind\s*\(|\.\s*(?:map|transformList|transformMap\w*)\s*\(")
_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*")
_CHAIN = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*(?!\w*\s*\())*")
_ROOTS = ("self", "oldSelf", "oldSelves")
_OPEN, _CLOSE = "([{", ")]}"


def count_copies(text: str) -> int:
    """How often a value may come back; the text has neither texts nor comments in it."""
    calls = [(found[0], _split_arguments(text, found.end())) for found in _BINDING.finditer(text)]
    names = {*_ROOTS, *(name for _, arguments in calls for name in _find_names(arguments))}
    copies = 1
    for call, arguments in calls:
        # The second is what is bound by cel.bind; the last is what an entry becomes in a map.
        bound = arguments[min(1, len(arguments) - 1) if "bind" in call else -1]
        copies = min(COPIES_MAX, copies * max(1, _count_named(bound, names)))
    return copies


def _find_names(arguments: list[str]) -> Iterator[str]:
    for part in arguments[:-1]:
        if found := _NAME.fullmatch(part):
            yield found[1]


def _count_named(text: str, names: set[str]) -> int:
    """How often the value that is named most often is named, alone or as part of another."""
    chains = [re.sub(r"\s", "", found[0]) for found in _CHAIN.finditer(text)]
    counts = Counter(chain for chain in chains if chain.partition(".")[0] in names)
    return max((_count_holders(chain, counts) for chain in counts), default=1)


def _count_holders(chain: str, counts: Counter[str]) -> int:
    steps = chain.split(".")
    return sum(counts[".".join(steps[:length])] for length in range(1, len(steps) + 1))


def _split_arguments(text: str, start: int) -> list[str]:
    """The arguments of a call whose bracket has just been opened."""
    parts, depth, begin = [], 0, start
    for position in range(start, len(text)):
        char = text[position]
        if char in _OPEN:
            depth += 1
        elif char in _CLOSE:
            depth -= 1
        if depth < 0 or (depth == 0 and char == ","):
            parts.append(text[begin:position])
            begin = position + 1
        if depth < 0:
            return parts
    return [*parts, text[begin:]]
