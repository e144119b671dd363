"""
JSON patches: lists of small edits, as RFC 6902 has them and as a real API server takes them.

A patch either applies as a whole or not at all. The object that comes in is
never changed: each edit copies the containers on its way and shares the rest.

The server's habits win over the letter of the RFC: negative indices count from
the end, ``replace`` may set a key that is not there, ``test`` against null
passes for a missing key, and every edit that fails gets the same bare answer.
"""

import re
from collections.abc import Callable
from typing import Any

import orjson

from kohort.apiserver.schemas.limits import is_value_too_deep
from kohort.cluster.errors import BadRequest, Invalid, TooLarge, invalid
from kohort.cluster.fields import FieldError, FieldErrorType
from kohort.cluster.objects import Object

OPERATIONS_MAX = 10_000
COPIED_BYTES_MAX = 3 * 1024 * 1024

_INDEX = re.compile(r"[+-]?[0-9]{1,18}")
_REFUSED = "the server rejected our request due to an error in our request"
_MISSING = object()

Edit = Callable[[Any, str], Any]


def apply_json_patch(obj: Object, operations: Any) -> Object:
    """The object after all operations, in their order."""
    if operations is None:
        return obj
    _check_form(operations)
    result: Any = obj
    copied = 0
    for operation in operations:
        if operation is not None and operation.get("op") == "copy":
            result, size = _copy(result, operation)
            copied += size
            if copied > COPIED_BYTES_MAX:
                raise _refuse()
        else:
            result = _apply(result, operation)
    if not isinstance(result, dict):
        raise invalid("", "", "", [_not_an_object(result)])
    if is_value_too_deep(result):
        raise _refuse()
    return result


def _not_an_object(result: Any) -> FieldError:
    detail = (
        "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value "
        'of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
        'Kind string "json:\\"kind,omitempty\\"" }'
    )
    return FieldError(FieldErrorType.INVALID, "patch", detail, orjson.dumps(result).decode())


def _check_form(operations: Any) -> None:
    if not isinstance(operations, list):
        raise _undecodable(operations, "value of type []handlers.jsonPatchOp")
    for operation in operations:
        _check_operation(operation)
    if len(operations) > OPERATIONS_MAX:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{OPERATIONS_MAX}, got {len(operations)}"
        )


def _check_operation(operation: Any) -> None:
    if operation is None:
        return
    if not isinstance(operation, dict):
        raise _undecodable(operation, "value of type handlers.jsonPatchOp")
    for field in ("op", "path", "from"):
        value = operation.get(field)
        if value is not None and not isinstance(value, str):
            raise _undecodable(value, f"struct field jsonPatchOp.{field} of type string")


def _undecodable(value: Any, kind: str) -> BadRequest:
    found = {dict: "object", list: "array", str: "string", bool: "bool"}.get(type(value), "number")
    return BadRequest(f"error decoding patch: json: cannot unmarshal {found} into Go {kind}")


def _refuse() -> Invalid:
    return Invalid(_REFUSED, details={})


def _apply(root: Any, operation: Object | None) -> Any:
    if operation is None or operation.get("op") not in _VERBS:
        raise _refuse()
    return _VERBS[operation["op"]](root, operation)


def _add(root: Any, operation: Object) -> Any:
    return _edit(root, _read_path(operation, "path"), _insert(operation.get("value")))


def _remove(root: Any, operation: Object) -> Any:
    return _edit(root, _read_path(operation, "path"), _take_out)


def _replace(root: Any, operation: Object) -> Any:
    if operation.get("path") == "":
        value = operation.get("value")
        if not isinstance(value, dict | list):
            raise _refuse()
        return value
    return _edit(root, _read_path(operation, "path"), _overwrite(operation.get("value")))


def _move(root: Any, operation: Object) -> Any:
    source = _read_path(operation, "from")
    value = _look_up(root, source)
    if value is _MISSING:
        raise _refuse()
    without = _edit(root, source, _take_out)
    return _edit(without, _read_path(operation, "path"), _insert(value))


def _copy(root: Any, operation: Object) -> tuple[Any, int]:
    """The object after a copy operation, and the bytes that the copy adds."""
    value = _look_up(root, _read_path(operation, "from"))
    # A missing key is copied as null.
    written = _encode(None if value is _MISSING else value)
    copied = _insert(orjson.loads(written))
    return _edit(root, _read_path(operation, "path"), copied), len(written)


def _test(root: Any, operation: Object) -> Any:
    expected = operation.get("value")
    is_root = operation.get("path") == ""
    value = root if is_root else _look_up(root, _read_path(operation, "path"))
    if value is _MISSING:
        value = None
    if _encode(value) != _encode(expected):
        raise _refuse()
    return root


_VERBS: dict[str, Callable[[Any, Object], Any]] = {
    "add": _add,
    "remove": _remove,
    "replace": _replace,
    "move": _move,
    "test": _test,
}


def _encode(value: Any) -> bytes:
    # In Python True equals 1, and 1 equals 1.0; their JSON texts differ.
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # The value was copied into itself, so it has no JSON text.
        raise _refuse() from None


def _read_path(operation: Object, field: str) -> list[str]:
    path = operation.get(field)
    if not isinstance(path, str):
        raise _refuse()
    # Text before the first slash is ignored, as a real server does.
    parts = path.split("/")[1:]
    if not parts:
        raise _refuse()
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]


def _look_up(root: Any, parts: list[str]) -> Any:
    node = root
    for part in parts[:-1]:
        node = _child(node, part)
    return _value_at(node, parts[-1])


def _child(node: Any, key: str) -> Any:
    child = _value_at(node, key)
    if not isinstance(child, dict | list):
        raise _refuse()
    return child


def _value_at(node: Any, key: str) -> Any:
    if isinstance(node, dict):
        return node.get(key, _MISSING)
    return node[_index(key, len(node) - 1, len(node))]


def _index(key: str, last: int, length: int) -> int:
    if not _INDEX.fullmatch(key):
        raise _refuse()
    index = int(key)
    if index < 0:
        index += length
    if not 0 <= index <= last:
        raise _refuse()
    return index


def _edit(root: Any, parts: list[str], edit: Edit) -> Any:
    if len(parts) == 1:
        return edit(root, parts[0])
    key = parts[0]
    changed = _edit(_child(root, key), parts[1:], edit)
    return _overwrite(changed)(root, key)


def _insert(value: Any) -> Edit:
    def insert(node: Any, key: str) -> Any:
        if isinstance(node, dict):
            return {**node, key: value}
        size = len(node)
        at = size if key == "-" else _index(key, size, size + 1)
        return [*node[:at], value, *node[at:]]

    return insert


def _overwrite(value: Any) -> Edit:
    def overwrite(node: Any, key: str) -> Any:
        if isinstance(node, dict):
            return {**node, key: value}
        at = _index(key, len(node) - 1, len(node))
        return [*node[:at], value, *node[at + 1 :]]

    return overwrite


def _take_out(node: Any, key: str) -> Any:
    if isinstance(node, dict):
        if key not in node:
            raise _refuse()
        return {name: value for name, value in node.items() if name != key}
    at = _index(key, len(node) - 1, len(node))
    return [*node[:at], *node[at + 1 :]]
