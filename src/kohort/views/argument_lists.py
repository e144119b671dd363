"""
Lists of arguments as people compare them: flag by flag, whatever stands around a change.

A flag and its value belong together, whether they are written with a blank or with ``=``.
"""

from collections import Counter
from typing import Any

FIELDS = ("args", "command")


def compare_arguments(old: Any, new: Any) -> tuple[str, str]:
    """What one list has that the other has not; all of both if only their order differs."""
    before, after = split_arguments(old or []), split_arguments(new or [])
    gone, come = _subtract(before, after), _subtract(after, before)
    if not gone and not come:
        gone, come = before, after
    return " ".join(gone), " ".join(come)


def split_arguments(words: list[Any]) -> list[str]:
    """The words of a list, with the value of a flag in one text with it."""
    found: list[str] = []
    for word in map(str, words):
        last = found[-1] if found else ""
        takes_value = last.startswith("-") and "=" not in last and " " not in last
        if takes_value and not word.startswith("-"):
            found[-1] = f"{last} {word}"
        else:
            found.append(word)
    return found


def _subtract(words: list[str], others: list[str]) -> list[str]:
    left, found = Counter(others), []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            found.append(word)
    return found
