"""
Pruning: removes fields that the schema of a custom kind does not declare.

Paths are put together on the way back up, so an object without unknown fields
costs no string. A field that preserves what is unknown keeps it, but fields
that it does declare are pruned inside as any other.
"""

from typing import Any

from kohort.apiserver.schemas.builtin import load_definition
from kohort.apiserver.schemas.structural.node import META_FIELDS, Node

_EMBEDDED = "x-kubernetes-embedded-resource"
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def prune(value: Any, node: Node | None) -> list[str] | None:
    """Remove unknown fields in place; returns their paths below this value."""
    kind = type(value)
    if kind is dict:
        return _prune_fields(value, node)
    if kind is list:
        return _prune_entries(value, node)
    return None


def _prune_fields(value: dict[str, Any], node: Node | None) -> list[str] | None:
    if node is None:
        everything = [f".{key}" for key in value]
        value.clear()
        return everything
    unknown: list[str] = []
    below: list[str] = []
    for key, inner in value.items():
        if node.embedded and key in META_FIELDS:
            # The server prunes the metadata of the object itself elsewhere.
            if key == "metadata" and type(inner) is dict and _EMBEDDED in node.schema:
                below += [f".metadata.{name}" for name in _prune_metadata(inner)]
            continue
        child = node.find(key)
        if child is None:
            if not node.preserves:
                unknown.append(key)
        elif type(inner) is dict or type(inner) is list:
            found = prune(inner, child)
            if found:
                below += [f".{key}{path}" for path in found]
    for key in unknown:
        del value[key]
    return below + [f".{key}" for key in unknown] or None


def _prune_metadata(metadata: dict[str, Any]) -> list[str]:
    known = load_definition(_METADATA).fields
    unknown = [name for name in metadata if name not in known]
    for name in unknown:
        del metadata[name]
    return unknown


def _prune_entries(value: list[Any], node: Node | None) -> list[str] | None:
    entry = node.find_items() if node is not None else None
    if node is not None and node.preserves:
        if entry is None:
            return None
        entry = _preserving(entry)
    below: list[str] = []
    for index, inner in enumerate(value):
        found = prune(inner, entry)
        if found:
            below += [f"[{index}]{path}" for path in found]
    return below or None


def _preserving(node: Node) -> Node:
    """The node with x-kubernetes-preserve-unknown-fields, which a list passes to its entries."""
    return node if node.preserves else Node(node.schema | _PRESERVE)


_PRESERVE = {"x-kubernetes-preserve-unknown-fields": True}
