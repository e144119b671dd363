"""
Defaulting of custom objects by the ``default`` values of their schema.

A null where the schema allows none counts as left out: it becomes the default
if there is one and goes away if there is none. Defaults are copied, so that no
two objects ever share a part.
"""

from typing import Any

from kohort.apiserver.schemas.limits import OBJECT_BYTES_MAX, too_large_to_store
from kohort.apiserver.schemas.structural.node import Node


def fill(value: Any, node: Node) -> None:
    """Set the defaults in place, at all depths; raises if the object grows too large."""
    _Filling().fill(value, node)


class _Filling:
    """Sets the defaults of one object, and limits the bytes that they add."""

    __slots__ = ("_bytes_left",)

    def __init__(self) -> None:
        self._bytes_left = OBJECT_BYTES_MAX

    def fill(self, value: Any, node: Node) -> None:
        kind = type(value)
        if kind is dict:
            self._fill_fields(value, node)
        elif kind is list:
            self._fill_entries(value, node.find_items())

    def _fill_fields(self, value: dict[str, Any], node: Node) -> None:
        nulls = [key for key, inner in value.items() if inner is None]
        for key in nulls:
            self._settle_null(value, key, node.find(key))
        for key, default, nullable, size in node.defaults:
            if key not in value or (value[key] is None and not nullable):
                self._spend(size)
                value[key] = copy_json(default)
        for key, inner in value.items():
            if type(inner) is dict:
                child = node.find(key)
                if child is not None:
                    self._fill_fields(inner, child)
            elif type(inner) is list:
                child = node.find(key)
                if child is not None:
                    self._fill_entries(inner, child.find_items())

    def _settle_null(self, value: dict[str, Any], key: str, child: Node | None) -> None:
        if child is None or child.nullable:
            return
        if child.default is None:
            del value[key]
        else:
            self._spend(child.default_size)
            value[key] = copy_json(child.default)

    def _fill_entries(self, value: list[Any], entry: Node | None) -> None:
        if entry is None:
            return
        for index, inner in enumerate(value):
            if inner is None and not entry.nullable and entry.default is not None:
                self._spend(entry.default_size)
                value[index] = copy_json(entry.default)
            self.fill(value[index], entry)

    def _spend(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise too_large_to_store()


def copy_json(value: Any) -> Any:
    """A copy of a JSON value that shares nothing that can change."""
    kind = type(value)
    if kind is dict:
        return {key: copy_json(inner) for key, inner in value.items()}
    if kind is list:
        return [copy_json(inner) for inner in value]
    return value
