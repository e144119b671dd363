"""
The meaning of a label, annotation or variable: a row of the reference page of all keys.

Each API lists its keys in its ``labels`` module, beside the keys themselves; the page
is generated from these rows, so it is never out of date.
"""

from dataclasses import dataclass

LABEL, ANNOTATION, VARIABLE = "label", "annotation", "variable"
UPSTREAM = "upstream"  # the upstream controller of the API writes it, too


@dataclass(frozen=True, slots=True)
class Key:
    """One label, annotation or variable."""

    text: str
    kind: str
    objects: str  # the objects that carry it
    value: str  # the meaning of its value
    since: str  # upstream, or the first version of Kohort that has it
