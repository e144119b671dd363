"""
What all texts share: columns, symbols, and the styles that go with a word.

A symbol never stands without its word, so that nothing is lost without colour or
in a log.
"""

from collections.abc import Callable, Sequence

from kohort.cli.terminal import GREEN, RED, YELLOW, escape
from kohort.model.units import Phase
from kohort.views.health import Word

Paint = Callable[[str, str], str]  # (text, style) -> text

DONE, MOVING, BLOCKED, BROKEN = "✓", "●", "!", "✗"
_SYMBOLS = {Word.READY: DONE, Word.BLOCKED: BLOCKED, Word.STALLED: BLOCKED, Word.BROKEN: BROKEN}
_STYLES = {DONE: GREEN, MOVING: YELLOW, BLOCKED: RED, BROKEN: RED}
_PHASES = {Phase.READY: DONE, Phase.BROKEN: BROKEN}


def plain(text: str, style: str) -> str:
    """Paints nothing."""
    return text


def mark_word(word: Word, paint: Paint) -> str:
    """A workload's word with its symbol."""
    symbol = _SYMBOLS.get(word, MOVING)
    return paint(f"{symbol} {word}", _STYLES[symbol])


def mark_phase(phase: Phase, is_stuck: bool, paint: Paint) -> tuple[str, str]:
    """The symbol of a group or member, painted, and its word."""
    symbol = _PHASES.get(phase, BLOCKED if is_stuck else MOVING)
    return paint(symbol, _STYLES[symbol]), str(phase)


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with columns below each other."""
    cells = [[escape(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return [line.rstrip() for line in lines]


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
