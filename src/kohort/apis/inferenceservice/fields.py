"""
Readers of single fields of raw objects: a field of a wrong type counts as absent.

The API server checks types before it stores an object, and a definition of another may be laxer
than ours. What is wrong is said at admission; nothing here raises.
"""

from collections.abc import Mapping
from typing import Any

from kohort.cluster.objects import Object


def read_object(holder: Object, name: str) -> Object:
    """A field that holds an object; an empty one where it does not."""
    found = holder.get(name)
    return found if isinstance(found, dict) else {}


def find_object(holder: Object, name: str) -> Object | None:
    """A field that holds an object, even an empty one; None where it does not."""
    found = holder.get(name)
    return found if isinstance(found, dict) else None


def read_objects(holder: Object, name: str) -> tuple[Object, ...]:
    """A list of objects."""
    found = holder.get(name)
    return tuple(e for e in found if isinstance(e, dict)) if isinstance(found, list) else ()


def read_text(holder: Object, name: str) -> str:
    """A text; nothing where there is none."""
    found = holder.get(name)
    return found if isinstance(found, str) else ""


def find_text(holder: Object, name: str) -> str | None:
    """A text, even an empty one; None where there is none."""
    found = holder.get(name)
    return found if isinstance(found, str) else None


def read_texts(holder: Object, name: str) -> tuple[str, ...]:
    """A list of texts."""
    found = holder.get(name)
    return tuple(e for e in found if isinstance(e, str)) if isinstance(found, list) else ()


def read_map(holder: Object, name: str) -> dict[str, str]:
    """A map of texts."""
    return {str(key): str(value) for key, value in read_object(holder, name).items()}


def find_number(holder: Object, name: str) -> int | None:
    """A whole number; None where there is none."""
    found: Any = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    return int(found)


def read_flag(holder: Object, name: str) -> bool:
    """True or false; false where nothing is said."""
    return holder.get(name) is True


def without(holder: Mapping[str, Any], *names: str) -> Object:
    """An object without some of its fields."""
    return {name: value for name, value in holder.items() if name not in names}
