"""
Views as plain values: dictionaries, lists, texts and numbers, for every form that programs read.

Names are in camelCase as in the Kubernetes API, moments are timestamps, and the shape is that of
the view. ``-o json`` and the dashboard write the same value.
"""

import dataclasses
from datetime import datetime
from enum import Enum
from typing import Any

from kohort.cluster.timestamps import write_time

_PLAIN = frozenset({str, int, float, bool, type(None)})
_FIELDS: dict[type, tuple[tuple[str, str], ...]] = {}  # of each class that was seen


def to_plain(view: Any) -> Any:
    """A view as dictionaries, lists and texts."""
    kind = type(view)
    if kind in _PLAIN:
        return view
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = _list_fields(kind)
    if names:
        return {plain: to_plain(getattr(view, name)) for name, plain in names}
    if isinstance(view, dict):
        return {key: to_plain(value) for key, value in view.items()}
    if isinstance(view, list | tuple):
        return [to_plain(item) for item in view]
    if isinstance(view, datetime):
        return write_time(view)
    return view.value if isinstance(view, Enum) else view


def _list_fields(kind: type) -> tuple[tuple[str, str], ...]:
    """The fields of a class of views, as they are and in camelCase; none if it is another class."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple((field.name, _camel(field.name)) for field in dataclasses.fields(kind))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
