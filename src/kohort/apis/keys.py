"""
What a label, annotation or variable means, as a row of the reference page of all keys.

Each API lists its keys in its ``labels`` module, beside the texts themselves; the page
is made from these rows, so that it cannot be behind.
"""

from dataclasses import dataclass

LABEL, ANNOTATION, VARIABLE = "label", "annotation", "variable"
UPSTREAM = "upstream"  # the upstream controller of the API writes it, too


@dataclass(frozen=True, slots=True)
class Key:
    """One label, annotation or variable."""

    text: str
    kind: str
    objects: str  # what carries it
    value: str  # what it says
    since: str  # upstream, or the version of Kohort that brought it
