"""Where two CustomResourceDefinitions differ, leaving texts for people aside."""

from collections.abc import Iterator
from typing import Any

from kohort.cluster.objects import Object


def find_differences(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """The paths at which two definitions differ, leaving texts for people aside."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted({*ours, *theirs}):
            if is_prose(name, ours) and is_prose(name, theirs):
                continue
            here = f"{path}.{name}".removeprefix(".")
            if name in ours and name in theirs:
                yield from find_differences(ours[name], theirs[name], here)
            else:
                yield here
    elif is_named(ours) and is_named(theirs):
        yield from find_differences(by_name(ours), by_name(theirs), path)
    elif path.endswith(".required"):
        yield from [] if sorted(ours) == sorted(theirs) else [path]
    elif ours != theirs:
        yield path


def is_prose(name: str, holder: Object) -> bool:
    return name == "description" and isinstance(holder.get(name, ""), str)


def is_named(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, dict) and "name" in v for v in value)


def by_name(entries: list[Object]) -> Object:
    return {entry["name"]: entry for entry in entries}
