"""
Edits: fields of an object that another client set, as the API server recorded them.

The API server records which client set a field last (``metadata.managedFields``). The client
that made an object has set its selector, which is immutable: that manager and our own are its
keepers. A field that another manager has set and that no keeper also holds is an edit. If a
server or client strips these records, we see no edits; nor do we see a removed field, which
has no manager.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson

from kohort.cluster.objects import Object

# Field names, and items of lists: named by their keys or their value.
Step = str
Path = tuple[Step, ...]
_ITEM = "."
_SELECTOR = ("f:spec", "f:selector")


@dataclass(frozen=True, slots=True)
class Edit:
    """One field that another client set."""

    path: Path
    manager: str

    def __str__(self) -> str:
        return write_path(self.path)


class _Entry(msgspec.Struct, rename="camel"):
    manager: str = ""
    subresource: str = ""
    fields_v1: Any = msgspec.field(default=None, name="fieldsV1")


class _Meta(msgspec.Struct, rename="camel"):
    managed_fields: list[_Entry] = []


class _Managed(msgspec.Struct):
    metadata: _Meta


_decode = msgspec.json.Decoder(_Managed).decode


def find_edits(raw: bytes, keeper: str, *below: Step, maker: Path = _SELECTOR) -> tuple[Edit, ...]:
    """The fields below a path that clients other than the keeper and the maker have set."""
    entries = [e for e in _decode(raw).metadata.managed_fields if not e.subresource]
    others = [e for e in entries if e.manager != keeper and not _holds(e, maker)]
    others = [e for e in others if _holds(e, below)]
    if not others or (not keeper and not any(_holds(e, maker) for e in entries)):
        return ()
    kept = {path for e in entries if e not in others for path in _leaves(e, below)}
    found = {path: e.manager for e in others for path in _leaves(e, below) if path not in kept}
    return tuple(Edit(path, manager) for path, manager in sorted(found.items()))


def find_setter(raw: bytes, keeper: str, path: Path) -> str:
    """The client that set this field, through a subresource or not, unless a keeper also did."""
    entries = [e for e in _decode(raw).metadata.managed_fields if _holds(e, path)]
    if any(e.manager == keeper or _holds(e, _SELECTOR) for e in entries):
        return ""
    return next((e.manager for e in entries), "")


def _holds(entry: _Entry, path: Path) -> bool:
    return _descend(entry.fields_v1, path) is not None


def _descend(fields: Any, path: Path) -> Any:
    for step in path:
        fields = fields.get(step) if isinstance(fields, dict) else None
    return fields


def _leaves(entry: _Entry, below: Path) -> Iterator[Path]:
    fields = _descend(entry.fields_v1, below)
    return _walk(below, fields) if isinstance(fields, dict) else iter(())


def _walk(path: Path, fields: Object) -> Iterator[Path]:
    for step, inner in fields.items():
        if step == _ITEM:
            # A map that was created along with its first key is no edit by itself.
            if path[-1].startswith(("k:", "v:")):
                yield path
        elif isinstance(inner, dict) and inner:
            yield from _walk((*path, step), inner)
        else:
            yield (*path, step)


def locate(obj: Any, path: Path) -> tuple[str | int, ...] | None:
    """Where a managed-fields path leads in this object: keys and indexes; None if nowhere."""
    found: list[str | int] = []
    for step in path:
        place = _find_place(obj, step)
        if place is None:
            return None
        found.append(place)
        obj = obj[place]
    return tuple(found)


def _find_place(obj: Any, step: Step) -> str | int | None:
    form, _, text = step.partition(":")
    if form == "f":
        return text if isinstance(obj, dict) and text in obj else None
    if not isinstance(obj, list):
        return None
    if form == "i":
        return int(text) if int(text) < len(obj) else None
    wanted = orjson.loads(text)
    for index, item in enumerate(obj):
        if item == wanted if form == "v" else _has_keys(item, wanted):
            return index
    return None


def _has_keys(item: Any, wanted: Object) -> bool:
    return isinstance(item, dict) and all(item.get(key) == value for key, value in wanted.items())


def write_path(path: Path) -> str:
    """A path for users to read: ``spec.template.spec.containers[engine].image``."""
    text = ""
    for step in path:
        form, _, rest = step.partition(":")
        if form == "f":
            text += f".{rest}" if text else rest
        else:
            value = orjson.loads(rest)
            keys = value.values() if isinstance(value, dict) else (value,)
            text += f"[{','.join(str(key) for key in keys)}]"
    return text
