"""
One node of a schema; its child nodes are made when a value first needs them.

A definition may hold a whole pod template several times over, of which an
object uses a few dozen fields. So nothing is read ahead: a node looks at its
own keywords and makes a child when it is asked for one.
"""

from typing import Any

import orjson

Schema = dict[str, Any]

META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


class Node:
    """The facts about one subschema that defaulting, pruning and comparison need."""

    __slots__ = (
        "_items",
        "_known",
        "default",
        "default_size",
        "defaults",
        "embedded",
        "list_keys",
        "list_type",
        "nullable",
        "preserves",
        "properties",
        "schema",
        "values",
    )

    def __init__(self, schema: Schema, *, embedded: bool = False) -> None:
        self.schema = schema
        self.properties: dict[str, Schema] = schema.get("properties") or {}
        self.nullable = bool(schema.get("nullable"))
        self.default = schema.get("default")
        self.default_size = 0 if self.default is None else _measure("", self.default)
        self.preserves = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded = embedded or bool(schema.get("x-kubernetes-embedded-resource"))
        self.list_type: str = schema.get("x-kubernetes-list-type") or ""
        self.list_keys: list[str] = schema.get("x-kubernetes-list-map-keys") or []
        self.defaults = [
            (key, inner["default"], bool(inner.get("nullable")), _measure(key, inner["default"]))
            for key, inner in self.properties.items()
            if inner.get("default") is not None
        ]
        self.values = _read_values(schema)
        self._items: Node | None = None
        self._known: dict[str, Node] = {}

    def find(self, key: str) -> "Node | None":
        """The node of a field: its property, or ``additionalProperties``."""
        node = self._known.get(key)
        if node is not None:
            return node
        raw = self.properties.get(key)
        if raw is None:
            return self.values
        node = self._known[key] = Node(raw)
        return node

    def find_items(self) -> "Node | None":
        """The node of a list's entries."""
        if self._items is None and isinstance(self.schema.get("items"), dict):
            self._items = Node(self.schema["items"])
        return self._items


def _measure(key: str, default: Any) -> int:
    """How many bytes a default adds to an object that is filled in."""
    return len(key) + len(orjson.dumps(default)) + len('"":,')


def _read_values(schema: Schema) -> Node | None:
    values = schema.get("additionalProperties")
    if values is None:
        return None
    # A map of anything has no schema for its values, so their nulls stay.
    return Node(values if isinstance(values, dict) else {"nullable": True})
