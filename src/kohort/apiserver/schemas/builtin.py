"""
The types of the built-in kinds, from a generated table.

``data/builtin.json`` is made by ``tools/builtin_schemas.py`` and never edited.
It is read once, and a shape is built when the server needs it or one that
holds it, so a kind without requests costs nothing. A
definition has one shape for the life of the process: identity may be relied on.
"""

from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import orjson

from kohort.apiserver.schemas.shapes import ListType, Shape, Type

META = "io.k8s.apimachinery.pkg.apis.meta.v1."
OBJECT_META = META + "ObjectMeta"
TIME = META + "Time"
MICRO_TIME = META + "MicroTime"
QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"


class GoField(NamedTuple):
    """Facts about the Go type of a field that errors and encoded zero values show."""

    type: str  # as error messages name it, such as []v1.Container
    is_pointer: bool
    omits_empty: bool  # an empty scalar, list or map is not written
    omits_zero: bool  # nor is an empty struct
    embedded_in: str  # the embedded struct that it comes from, or nothing


def load_shape(api_version: str, kind: str) -> Shape:
    """The shape of a built-in kind; KeyError if there is none."""
    return load_definition(_table()["kinds"][f"{api_version} {kind}"])


def load_definition(name: str) -> Shape:
    """The shape of one definition, such as io.k8s.api.core.v1.PodSpec; KeyError if unknown."""
    if name in _shapes:
        return _shapes[name]
    return _read(_table()["definitions"][name], name)


def list_kinds() -> list[tuple[str, str, str]]:
    """Every built-in kind as apiVersion, kind and definition name."""
    found = []
    for key, name in _table()["kinds"].items():
        api_version, kind = key.split()
        found.append((api_version, kind, name))
    return found


@cache
def find_go_fields(name: str) -> dict[str, GoField]:
    """The Go facts about the fields of a definition; empty if it is no Go struct."""
    entry = _table()["definitions"].get(name, {})
    return {field: _read_go_field(text) for field, text in entry.get("go", {}).items()}


def _read_go_field(text: str) -> GoField:
    go_type, flags, *embedded = text.split(" ")
    return GoField(
        type=go_type,
        is_pointer="p" in flags,
        omits_empty="o" in flags,
        omits_zero="z" in flags,
        embedded_in=embedded[0] if embedded else "",
    )


@cache
def _table() -> Any:
    source = files("kohort.apiserver.schemas") / "data" / "builtin.json"
    return orjson.loads(source.read_bytes())


_shapes: dict[str, Shape] = {}


def _read(entry: Any, name: str = "") -> Shape:
    shape = Shape(
        Type(entry["type"]),
        name=name,
        items=_resolve(entry["items"]) if "items" in entry else None,
        list_type=ListType(entry.get("list", "atomic")),
        list_keys=tuple(entry.get("keys", ())),
        atomic=entry.get("atomic", False),
        merge_key=entry.get("merge-key", ""),
        merge=entry.get("merge", False),
        retain_keys=entry.get("retain-keys", False),
        required=tuple(entry.get("required", ())),
        format=entry.get("format", ""),
        default=entry.get("default"),
    )
    if name:
        # Registered before its fields, since a type may contain itself.
        _shapes[name] = shape
    for field, inner in entry.get("fields", {}).items():
        shape.fields[field] = _resolve(inner)
    return shape


def _resolve(entry: Any) -> Shape:
    """The shape of a field: that of the definition it names, or one of its own."""
    if "ref" not in entry:
        return _read(entry)
    shape = load_definition(entry["ref"])
    if entry.get("retain-keys") or entry.get("atomic"):
        # The copy shares the dictionary of fields, which may not be complete yet.
        return replace(
            shape,
            retain_keys=entry.get("retain-keys", False),
            atomic=shape.atomic or entry.get("atomic", False),
        )
    return shape
