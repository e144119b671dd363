"""
This is where a value that YAML gave is held against what JSON can say.

YAML has keys that are no texts, dates, sets, bytes, numbers of any size, and aliases by which a
value holds itself. An API server gets JSON, and so does everything behind the reader of a file:
what JSON cannot say is refused here, with its field, before any other code sees it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kohort.apis.definitions.shapes import DEPTH_MAX

_INT_MIN, _INT_MAX = -(2**63), 2**63 - 1
_VALUES_MAX = 1_000_000
_SHOWN_MAX = 40


class Misfit(NamedTuple):
    """A value that JSON cannot say."""

    field: str  # such as spec.roles[0].name; empty: the document itself
    message: str


def find_misfit(document: Any) -> Misfit | None:
    """The first value of a document that JSON cannot say; nothing if there is none."""
    walk = _Walk()
    found = next(walk.find(document, ""), None)
    if found is None and walk.sizes.get(id(document), 0) > _VALUES_MAX:
        return Misfit("", f"its aliases stand for more than {_VALUES_MAX} values")
    return found


@dataclass(slots=True)
class _Walk:
    """Each mapping and list is looked at once, however many aliases it has."""

    sizes: dict[int, int] = field(default_factory=dict)  # by identity, aliases written out
    above: set[int] = field(default_factory=set)

    def find(self, value: Any, path: str) -> Iterator[Misfit]:
        if not isinstance(value, dict | list):
            if message := _check_leaf(value):
                yield Misfit(path, message)
            return
        if id(value) in self.above:
            yield Misfit(path, "it holds itself by an alias")
            return
        if len(self.above) >= DEPTH_MAX:
            yield Misfit("", f"it is nested more than {DEPTH_MAX} levels deep")
            return
        if id(value) in self.sizes:
            return
        self.above.add(id(value))
        for step, inner in _list_inner(value):
            if isinstance(value, dict) and not isinstance(step, str):
                yield Misfit(path, f"its key {_show(step)} is no text: put it in quotes")
                return
            yield from self.find(inner, _join(path, step))
        self.above.discard(id(value))
        inside = (self.sizes.get(id(inner), 1) for _, inner in _list_inner(value))
        self.sizes[id(value)] = 1 + sum(inside)


def _list_inner(value: Any) -> Iterator[tuple[Any, Any]]:
    yield from value.items() if isinstance(value, dict) else enumerate(value)


def _join(path: str, step: str | int) -> str:
    return f"{path}[{step}]" if isinstance(step, int) else f"{path}.{step}".removeprefix(".")


def _check_leaf(value: Any) -> str:
    if value is None or isinstance(value, str | bool):
        return ""
    if isinstance(value, int):
        is_held = _INT_MIN <= value <= _INT_MAX
        return "" if is_held else "a whole number has 64 bits at most: put it in quotes"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is no number of JSON"
    return f"it is of type {type(value).__name__}, which JSON does not have"


def _show(key: object) -> str:
    if isinstance(key, bool):
        return f"{str(key).lower()} (YAML reads on, off, yes and no so)"
    text = repr(key)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
