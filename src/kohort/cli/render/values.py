"""
Views as JSON and YAML, for programs.

Names are in camelCase as in the Kubernetes API, moments are timestamps, and the
shape is that of the view, whatever API it is about.
"""

import dataclasses
import json
from datetime import datetime
from enum import Enum
from typing import Any


def write_value(view: Any, form: str) -> str:
    """A view, or a list of them, as text in JSON or YAML."""
    value = to_plain(view)
    if form == "yaml":
        import yaml

        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True)
        if not _is_harmless(text):
            text = yaml.safe_dump(value, sort_keys=False)
        return text.rstrip("\n")
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text if _is_harmless(text) else json.dumps(value, indent=2)


def _is_harmless(text: str) -> bool:
    """Whether a terminal shows all of it; else both forms have escapes of their own."""
    return text.replace("\n", "").isprintable()


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
        return view.strftime("%Y-%m-%dT%H:%M:%SZ")
    return view.value if isinstance(view, Enum) else view


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
