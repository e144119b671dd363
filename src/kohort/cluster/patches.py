"""
JSON patches from two objects, by which an AdmissionReview response says what changed.

Only what differs is named. A list whose length changed is replaced whole, since
what passes through admission gains entries and rarely moves them.
"""

from typing import Any

from kohort.cluster.objects import Object


def to_json_patch(old: Object, new: Object) -> list[Object]:
    """The operations that make the new object out of the old one."""
    operations: list[Object] = []
    _compare("", old, new, operations)
    return operations


def _compare(path: str, old: Any, new: Any, operations: list[Object]) -> None:
    if old is new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        _compare_members(path, old, new, operations)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            _compare(f"{path}/{index}", before, after, operations)
    # True and 1 are equal here, and not in JSON.
    elif type(old) is not type(new) or old != new:
        operations.append({"op": "replace", "path": path, "value": new})


def _compare_members(path: str, old: Object, new: Object, operations: list[Object]) -> None:
    for key in old:
        if key not in new:
            operations.append({"op": "remove", "path": _join(path, key)})
    for key, value in new.items():
        if key in old:
            _compare(_join(path, key), old[key], value, operations)
        else:
            operations.append({"op": "add", "path": _join(path, key), "value": value})


def _join(path: str, key: str) -> str:
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
