"""
Values as Go writes them: the JSON of typed structs, byte for byte.

A revision key is a hash over bytes that Go made, and the API server stores
built-in objects by the same rules. So the Go type of a field decides: a zero with
``omitempty`` is left out even if the user wrote it, a pointer keeps its zero, a
struct is always there, a list without ``omitempty`` becomes null.
The table of built-in types is printed by ``tools/go_json``; an API adds its own types, in
the same form. Fields that no type has are left out, as Go does, unless the caller keeps them.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from kohort.cluster.objects import Object, encode_json
from kohort.cluster.quantities import canonical_quantity

POD_TEMPLATE = "core.PodTemplateSpec"
CLAIM = "core.PersistentVolumeClaim"
RETENTION = "apps.StatefulSetPersistentVolumeClaimRetentionPolicy"
POD_SPEC = "core.PodSpec"

Write = Callable[[Any], Any]


def write_bytes(value: Any) -> bytes:
    """Compact JSON with sorted keys, escaped as Go escapes."""
    return encode_json(value, sort=True)


def drop_nulls(value: Any) -> Any:
    """The value without nulls, which mean nothing in an object that we send."""
    if isinstance(value, dict):
        return {key: drop_nulls(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [drop_nulls(inner) for inner in value]
    return value


class GoTypes:
    """The built-in types, and the types of one API."""

    def __init__(self, own: Mapping[str, list[str]] | None = None, *, keeps_more: bool = False):
        self._own = own or {}
        self._keeps_more = keeps_more  # whether fields that a type does not have stay
        self._writers: dict[str, Write] = {}

    def write(self, name: str, value: Any) -> Any:
        """The value as Go would write it after reading it into that type."""
        return self._writer(name)(value)

    def _writer(self, name: str) -> Write:
        """The function that writes a value of this type; null stands for an absent value."""
        if name not in self._writers:
            self._writers[name] = self._make_writer(name)
        return self._writers[name]

    def _make_writer(self, name: str) -> Write:
        if name.startswith("*"):
            return self._optional(name[1:])
        if name.startswith("[]"):
            return _list(self._writer(name[2:]))
        if name.startswith("{}"):
            return _map(self._writer(name[2:]))
        return _LEAVES.get(name) or self._struct(name)

    def _optional(self, name: str) -> Write:
        # Types may contain themselves behind a pointer, so the inner writer is looked up late.
        return lambda value: None if value is None else self._writer(name)(value)

    def _struct(self, name: str) -> Write:
        fields = self._fields(name)
        known = {field for field, *_ in fields}

        def write(value: Any) -> Object:
            value = value or {}
            result: Object = {}
            for field, write_field, may_be_absent in fields:
                written = write_field(value.get(field))
                if written or not may_be_absent(written):
                    result[field] = written
            if self._keeps_more:
                result |= {k: v for k, v in value.items() if k not in known}
            return result

        return write

    def _fields(self, name: str) -> list[tuple[str, Write, Callable[[Any], bool]]]:
        rows: list[tuple[str, Write, Callable[[Any], bool]]] = []
        for row in self._own.get(name) or _built_in_types()[name]:
            field, kind, flag = row.split(" ")
            if flag == "i":
                rows += self._fields(kind)
            else:
                rows.append((field, self._writer(kind), _absence(kind, flag)))
        return rows


@cache
def _built_in_types() -> dict[str, list[str]]:
    data = files("kohort.apis").joinpath("data/go_fields.json").read_bytes()
    table: dict[str, list[str]] = orjson.loads(data)
    return table


def _list(write: Write) -> Write:
    return lambda value: None if value is None else [write(inner) for inner in value]


def _map(write: Write) -> Write:
    return lambda value: (
        None if value is None else {key: write(inner) for key, inner in value.items()}
    )


def _absence(kind: str, flag: str) -> Callable[[Any], bool]:
    """Whether Go omits a falsy value of this type."""
    if flag == "z" or (flag == "o" and kind.startswith("*")):
        return lambda written: written is None
    if flag == "o" and kind.startswith(("[]", "{}", "string", "bool", "number")):
        return lambda written: not written
    return lambda written: False


def _write_number(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value or 0


def _write_quantity(value: Any) -> str:
    return "0" if value is None else canonical_quantity(str(value).strip())


_LEAVES: dict[str, Write] = {
    "string": lambda value: value or "",
    "bool": bool,
    "number": _write_number,
    "port": _write_number,
    "quantity": _write_quantity,
    "time": lambda value: value,
    "raw": lambda value: value,
}
