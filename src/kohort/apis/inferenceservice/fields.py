"""
Readers for single fields of raw objects; a field with a wrong type counts as absent.

The API server checks types before it stores an object, but the installed definition may be laxer
than ours. Admission reports errors; no function here raises.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from kohort.cluster.objects import Object


def read_object(holder: Object, name: str) -> Object:
    """The object in a field; an empty one if the field holds none."""
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


def find_object(holder: Object, name: str) -> Object | None:
    """The object in a field, even an empty one; None if the field holds none."""
    found = holder.get(name)
    return found if isinstance(found, dict) else None


def read_objects(holder: Object, name: str) -> tuple[Object, ...]:
    """The objects of a list in a field."""
    found = holder.get(name)
    return tuple(e for e in found if isinstance(e, dict)) if isinstance(found, list) else ()


def read_text(holder: Object, name: str) -> str:
    """The string in a field; empty if the field holds none."""
    found = holder.get(name)
    return found if isinstance(found, str) else ""


def find_text(holder: Object, name: str) -> str | None:
    """The string in a field, even an empty one; None if the field holds none."""
    found = holder.get(name)
    return found if isinstance(found, str) else None


def read_texts(holder: Object, name: str) -> tuple[str, ...]:
    """The strings of a list in a field."""
    found = holder.get(name)
    return tuple(e for e in found if isinstance(e, str)) if isinstance(found, list) else ()


def read_map(holder: Object, name: str) -> dict[str, str]:
    """The entries with string values of a map in a field."""
    return {str(key): str(value) for key, value in read_object(holder, name).items()}


def find_number(holder: Object, name: str) -> int | None:
    """The integer in a field; None if the field holds none."""
    found: Any = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return int(found)


def read_flag(holder: Object, name: str) -> bool:
    """The boolean in a field; False if the field holds none."""
    return holder.get(name) is True


def without(holder: Mapping[str, Any], *names: str) -> Object:
    """An object without some of its fields."""
    return {name: value for name, value in holder.items() if name not in names}


def parse_object(text: str) -> Object | None:
    """The object in a JSON text; None if the text holds none."""
    try:
        found: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None
