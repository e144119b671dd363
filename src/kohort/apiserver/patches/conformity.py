"""
Whether an applied configuration fits the shape of its kind.

A configuration is refused before anything is merged if it has unknown fields,
values of another type, or two entries of one name in a keyed list. The errors have
the words of a real server, which prints values as Go does.
"""

from typing import Any

import orjson

from kohort.apiserver.patches.comparison import field_shape
from kohort.apiserver.patches.elements import UnnamedEntry, name_entry, spell_step
from kohort.apiserver.schemas.shapes import ANY, ListType, Shape, Type
from kohort.cluster.go_values import spell
from kohort.cluster.objects import Object


def find_misfits(config: Object, shape: Shape) -> str:
    """The errors of a configuration that does not fit, as one text; None if it fits."""
    found: list[str] = []
    _check_fields(config, shape, "", found)
    if len(found) < 2:
        return "".join(found)
    return "\n".join(["errors:", *(f"  {text}" for text in found)])


def _check(value: Any, shape: Shape, path: str, found: list[str]) -> None:
    if value is None or shape.type is Type.ANY:
        return
    if shape.type in {Type.OBJECT, Type.MAP}:
        if isinstance(value, dict):
            _check_fields(value, shape, path, found)
        else:
            found.append(f"{path}: expected map, got &{{{spell(value)}}}")
    elif shape.type is Type.LIST:
        if isinstance(value, list):
            _check_entries(value, shape, path, found)
        else:
            found.append(f"{path}: expected list, got &{{{spell(value)}}}")
    else:
        complaint = _check_scalar(value, shape)
        if complaint:
            found.append(f"{path}: {complaint}")


def _check_fields(value: Object, shape: Shape, path: str, found: list[str]) -> None:
    is_open = shape.type is Type.MAP or shape.preserves_unknown
    for key, held in value.items():
        if not is_open and key not in shape.fields:
            # The rest of the object is not looked at any more.
            found.append(f"{path}.{key}: field not declared in schema")
            return
        _check(held, field_shape(shape, key), f"{path}.{key}", found)


def _check_entries(entries: list[Any], shape: Shape, path: str, found: list[str]) -> None:
    items = shape.items or ANY
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        if shape.list_type is ListType.ATOMIC:
            _check(entry, items, f"{path}[{place}]", found)
            continue
        try:
            step = name_entry(entry, shape)
        except UnnamedEntry as error:
            found.append(f"{path}: element {place}: {error}")
            return
        if step in seen:
            found.append(f"{path}: duplicate entries for key {spell_step(step)}")
        seen.add(step)
        _check(entry, items, path + spell_step(step), found)


def _check_scalar(value: Any, shape: Shape) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if shape.type in {Type.INTEGER, Type.NUMBER} and not is_number:
        return f"expected numeric (int or float), got {_type_name(value)}"
    if shape.type is Type.BOOLEAN and not isinstance(value, bool):
        return f"expected boolean, got &{{{spell(value)}}}"
    # Times and quantities have named types, which accept several JSON types.
    if shape.type is Type.STRING and not shape.name and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{_literal(value)}}}"
    if isinstance(value, dict | list) and shape.name:
        return f"expected any scalar, got &{{{spell(value)}}}"
    return ""


def _type_name(value: Any) -> str:
    names = {str: "string", bool: "bool", dict: "map[string]interface {}", list: "[]interface {}"}
    return names[type(value)]


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f'"{key}":{_literal(value[key])}' for key in sorted(value))
        return f"map[string]interface {{}}{{{inner}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_literal, value))}}}"
    return "interface {}(nil)" if value is None else orjson.dumps(value).decode()
