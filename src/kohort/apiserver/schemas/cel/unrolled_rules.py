"""
Splits rules with nested loops, which the engine would end too early, into single evaluations.

The engine takes ten thousand turns of all loops of an evaluation together, so ``exists_one`` inside
``all`` ends at a hundred entries, where a real server would go on. Such a rule is evaluated again
for each entry of its outer list by itself. Only what plainly has that form is taken apart: parts
that are joined by ``&&``, each of them a chain of names that ends in ``all``, ``exists`` or
``exists_one``.
"""

import re
from dataclasses import dataclass

from kohort.apiserver.schemas.cel.costs import TEXT

INDEX = "kohortIndex"

_OPEN, _CLOSE = "([{", ")]}"
_MACRO = re.compile(r"\.(all|exists|exists_one)$")
_CHAIN = re.compile(r"[A-Za-z_][\w.\[\]()'\"?, -]*")
_VARIABLE = re.compile(r"\s*([A-Za-z_]\w*)\s*,")


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over a list: an expression for its length, and one for the entry at an index."""

    macro: str
    count: str
    body: str


def split_conjunction(text: str) -> list[str]:
    """The parts of an expression that must all be true."""
    parts, start, depth = [], 0, 0
    position = 0
    while position < len(text):
        if found := TEXT.match(text, position):
            position = found.end()
            continue
        char = text[position]
        depth += (char in _OPEN) - (char in _CLOSE)
        if depth == 0 and text.startswith(("||", "?"), position):
            return [text]
        if depth == 0 and text.startswith("&&", position):
            parts.append(text[start:position])
            start = position = position + 2
            continue
        position += 1
    return [*parts, text[start:]]


def find_loop(text: str) -> Loop | None:
    """The loop, if an expression consists of one loop; else None."""
    text = text.strip()
    opening = _find_last_opening(text)
    if opening is None:
        return None
    head, inside = text[:opening], text[opening + 1 : -1]
    macro, variable = _MACRO.search(head), _VARIABLE.match(inside)
    if macro is None or variable is None:
        return None
    source = head[: macro.start()]
    if not _CHAIN.fullmatch(source):
        return None
    body = inside[variable.end() :]
    return Loop(
        macro[1],
        f"size({source})",
        f"cel.bind({variable[1]}, {source}[{INDEX}], {body})",
    )


def _find_last_opening(text: str) -> int | None:
    """Where the bracket opens that the last character closes."""
    if not text.endswith(")"):
        return None
    stack: list[int] = []
    last = None
    position = 0
    while position < len(text):
        if found := TEXT.match(text, position):
            position = found.end()
            continue
        if text[position] in _OPEN:
            stack.append(position)
        elif text[position] in _CLOSE:
            if not stack:
                return None
            last = stack.pop()
        position += 1
    return None if stack else last
