"""
Regular expressions of the API, which are RE2: the time of a search grows with the text alone.

Python's own would try every way in which ``^(a+)+$`` can match, so the author of a definition
could make a search take for ever. Errors of a pattern have the words of Go.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

_KEPT_MAX = 1_024

# RE2's messages, and Go's messages for the same errors.
_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "unexpected )": "unexpected )",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "invalid escape sequence": "invalid escape sequence",
    "invalid character class range": "invalid character class range",
}


class BadPatternError(ValueError):
    """A text that is no regular expression; the message says why, in the words of Go."""


@lru_cache(maxsize=_KEPT_MAX)
def compile_pattern(pattern: str) -> Any:
    """The pattern, ready to search with; raises BadPatternError."""
    compile_re2, error_type = _load()
    try:
        return compile_re2(pattern)
    except error_type as error:
        said = error.args[0] if error.args else b""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        words, _, part = text.partition(": ")
        why = _WORDS.get(words, words)
        # RE2 names no part for an error at the end of a pattern, so the quotes stay empty.
        raise BadPatternError(f"{why}: `{part}`" if part else f"{why}: ``") from None


@cache
def _load() -> tuple[Callable[[str], Any], type[Exception]]:
    # Imported late: few clusters need patterns, and a start should not wait for the library.
    try:
        import re2
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "google-re2 is not installed; run 'make install', or 'pip install google-re2'"
        ) from None

    options = re2.Options()
    options.log_errors = False
    return lambda pattern: re2.compile(pattern, options), re2.error
