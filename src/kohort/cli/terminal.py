"""
This is where text for people leaves the process, and where it is made harmless.

Names, images, reasons and messages were written by any user who may write to the cluster. A
terminal would obey escape sequences in them, show text in another order than it is, or
break a line where none ends. So everything that is printed passes the guards that
``main`` puts around stdout and stderr: what is not printable is spelled out, as
``\\x1b`` or ``\\u202e``. Line breaks of ours stand between lines and never inside one,
so whatever prints lines joins them here. Control sequences of ours are marked with a
word that is drawn at random for each process, which no author of an object can have written.

Colour is used only on a terminal, and never when the user said no. It repeats what the words say
already; nothing is shown by colour alone.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

BOLD = "1"
RED = "31"
GREEN = "32"
YELLOW = "33"
RESET = "\x1b[0m"


def paint(text: str, style: str, stream: TextIO) -> str:
    """The text in a style, if the stream shows styles."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return control(f"\x1b[{style}m") + text + control(RESET)


_MARK = f"\x00{os.urandom(8).hex()}\x00"


def control(sequence: str) -> str:
    """A control sequence of ours, in a form that reaches the terminal as it is."""
    return f"{_MARK}{sequence}{_MARK}"


def escape(text: str, kept: str = "") -> str:
    """The text with unprintable characters spelled out, apart from those in ``kept``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in kept else repr(c)[1:-1] for c in text)


def join_lines(lines: Iterable[str]) -> str:
    """Lines as one text; a line break inside a line is spelled out."""
    return "\n".join(_escape_around_marks(line, "") for line in lines)


def show(*lines: str, file: TextIO | None = None) -> None:
    """Print lines at once."""
    print(join_lines(lines), file=file, flush=True)


def _escape_around_marks(text: str, kept: str) -> str:
    parts = text.split(_MARK)
    if len(parts) % 2 == 0:
        return escape(text, kept)
    spelled = (escape(part, kept) for part in parts[::2])
    marked = [control(part) for part in parts[1::2]]
    return "".join(part for pair in zip(spelled, [*marked, ""], strict=True) for part in pair)


class _Guard:
    """A stream on which only our own control sequences are obeyed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, spelled out where a terminal would obey it."""
        self._stream.write(_escape_around_marks(text, "\n\t").replace(_MARK, ""))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded_output() -> Iterator[None]:
    """Guard stdout and stderr while a command runs."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Guard(stream)) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams
