"""
JSON patches from mutating webhooks: applied whole, or refused with an explanation.

A JSON patch from a client is refused with one bare sentence, but a webhook's
patch is refused with the reason. So when a webhook's patch fails, the failed
edit is searched for.
"""

import re
from typing import Any

from kohort.apiserver.admission.caller import fail
from kohort.apiserver.patches.json_patch import apply_json_patch
from kohort.cluster.errors import ClusterError
from kohort.cluster.numbers import find_whole
from kohort.cluster.objects import Object

_VERBS = {"add", "remove", "replace", "move", "copy", "test"}
_NUMBER = re.compile(r"[+-]?[0-9]+")
_INVALID_INDEX = "Unable to access invalid index: {}: invalid index referenced"


def apply_patch(obj: Object, operations: list[Object]) -> Object:
    """The object after a webhook's patch; the same object if nothing changed."""
    try:
        changed = apply_json_patch(obj, operations)
    except ClusterError as error:
        raise fail(_explain(obj, operations)) from error
    return obj if changed == obj else changed


def _explain(obj: Object, operations: list[Object]) -> str:
    for operation in operations:
        try:
            obj = apply_json_patch(obj, [operation])
        except ClusterError as error:
            return _explain_one(obj, operation) or error.message
    return "the patch does not apply"


def _explain_one(obj: Object, operation: Object) -> str:
    verb, path = operation.get("op"), operation.get("path")
    if verb not in _VERBS:
        return f"Unexpected kind: {verb}"
    if not isinstance(path, str):
        return f"{verb} operation failed to decode path: missing value"
    if verb in ("move", "copy"):
        return _explain_transfer(obj, verb, str(operation.get("from", "")), path)
    container, key = _find_container(obj, path)
    if container is None:
        return _explain_missing(verb, path)
    return _explain_edit(container, key, verb, path)


def _explain_edit(container: Any, key: str, verb: str, path: str) -> str:
    if verb == "replace":
        return f"replace operation does not apply: doc is missing key: {path}: missing value"
    if verb == "test":
        return f"testing value {path} failed: test failed"
    return f"error in {verb} for path: '{path}': {_explain_key(container, key)}"


def _explain_missing(verb: str, path: str) -> str:
    if verb == "test":
        return f"test operation does not apply: is missing path: {path}: missing value"
    shown = path if verb == "replace" else f'"{path}"'
    return f"{verb} operation does not apply: doc is missing path: {shown}: missing value"


def _explain_transfer(obj: Object, verb: str, source: str, path: str) -> str:
    container, key = _find_container(obj, source)
    if container is None:
        return f"{verb} operation does not apply: doc is missing from path: {source}: missing value"
    if isinstance(container, dict) and key not in container and verb == "move":
        return f"error in move for path: '{key}': {_explain_key(container, key)}"
    return (
        f"{verb} operation does not apply: doc is missing destination path: {path}: missing value"
    )


def _explain_key(container: Any, key: str) -> str:
    if isinstance(container, dict):
        return f"Unable to remove nonexistent key: {key}: missing value"
    if _NUMBER.fullmatch(key):
        return _INVALID_INDEX.format(key)
    parsing = f'strconv.Atoi: parsing "{key}": invalid syntax'
    return f"value was not a proper array index: '{key}': {parsing}"


def _find_container(obj: Any, path: str) -> tuple[Any, str]:
    """The object or list that holds the last step of a path, if it exists, and that step."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
    if not parts:
        return None, ""
    node = obj
    for part in parts[:-1]:
        if isinstance(node, dict):
            node = node.get(part)
        elif isinstance(node, list) and (at := find_whole(part)) is not None:
            if at >= len(node):
                return None, parts[-1]
            node = node[at]
        else:
            return None, parts[-1]
    return (node if isinstance(node, dict | list) else None), parts[-1]
