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


def to_plain(view: Any) -> Any:
    """A view as dictionaries, lists and texts."""
    if dataclasses.is_dataclass(view) and not isinstance(view, type):
        fields = dataclasses.fields(view)
        return {_camel(field.name): to_plain(getattr(view, field.name)) for field in fields}
    if isinstance(view, dict):
        return {key: to_plain(value) for key, value in view.items()}
    if isinstance(view, list | tuple):
        return [to_plain(item) for item in view]
    if isinstance(view, datetime):
        return write_time(view)
    return view.value if isinstance(view, Enum) else view


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
