"""
This is where colour is decided: only on a terminal, and never when the user said no.

Colour repeats what the words say already; nothing is shown by colour alone.
"""

import os
from typing import TextIO

from kohort.cli.terminal import control

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
