"""Helpers of the checks for authors of plugins: small objects, and the wording of faults."""

from collections.abc import Iterable
from typing import Any

import orjson

from kohort.cluster.objects import Object

FAULTS_MAX = 10  # more of them would tell an author nothing new


def list_faults(found: Iterable[tuple[str, object]]) -> list[str]:
    """Each fault once, with the first case that shows it, if there is one."""
    first: dict[str, object] = {}
    for fault, case in found:
        first.setdefault(fault, case)
    told = [f"{fault}: {case}" if str(case) else fault for fault, case in first.items()]
    return told[:FAULTS_MAX]


def describe_error(error: BaseException) -> str:
    """An exception of an author's code in one line."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def is_json(value: Any) -> bool:
    """Whether a value can be sent to an API server."""
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def copy_json(obj: Object) -> Object:
    """A copy of an object that shares nothing with it."""
    found: Object = orjson.loads(orjson.dumps(obj))
    return found


def list_changes(before: Any, after: Any, path: str = "") -> list[str]:
    """The paths at which two JSON values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys([*before, *after])
        inner = (
            list_changes(before.get(key), after.get(key), f"{path}.{key}" if path else key)
            for key in keys
        )
        return [found for each in inner for found in each]
    return [] if before == after else [path]
