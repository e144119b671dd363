"""
Merge patches: a partial object laid over another, as RFC 7386 has them.

Null removes a key, objects are merged, everything else is replaced. The object
that comes in is not changed; what the patch does not touch is shared.
"""

from typing import Any

from kohort.cluster.errors import BadRequest
from kohort.cluster.objects import Object


def apply_merge_patch(obj: Object, patch: Any) -> Object:
    """The object with the patch laid over it."""
    if not isinstance(patch, dict):
        raise BadRequest(_complaint(patch))
    return _merge(obj, patch)


def _complaint(patch: Any) -> str:
    if patch is None:
        return "Invalid JSON Patch"
    found = {list: "array", str: "string", bool: "bool"}.get(type(patch), "number")
    return (
        f"error decoding patch: json: cannot unmarshal {found} into Go value of type "
        "map[string]interface {}"
    )


def _merge(old: Object, patch: Object) -> Object:
    result = dict(old)
    for key, value in patch.items():
        current = result.get(key)
        if value is None:
            result.pop(key, None)
        elif isinstance(current, dict):
            result[key] = _merge(current, value) if isinstance(value, dict) else value
        else:
            result[key] = prune_nulls(value)
    return result


def prune_nulls(value: Any) -> Any:
    """The value without the keys that hold null, at any depth."""
    if isinstance(value, dict):
        return {key: prune_nulls(held) for key, held in value.items() if held is not None}
    if isinstance(value, list):
        return [prune_nulls(entry) for entry in value]
    return value
