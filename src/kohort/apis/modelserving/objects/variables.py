"""
Environment variables of containers: their order, and each name once.

A variable can refer only to earlier ones. Upstream appends its own to the user's, so commands can
use them and the user's variables cannot; LeaderWorkerSet puts its own in front.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from kohort.cluster.objects import Object

_CONTAINERS = ("containers", "initContainers")
Variables = Sequence[Object]


def write_variables(values: Mapping[str, str]) -> list[Object]:
    """Variables with plain values, in order."""
    return [{"name": name, "value": value} for name, value in values.items()]


def append_variables(spec: Object, values: Mapping[str, str]) -> Object:
    """The pod spec with variables after all others, replacing those of the same name."""
    added = write_variables(values)
    return _change(spec, lambda given: [*_without(given, values), *added])


def prepend_variables(spec: Object, values: Mapping[str, str]) -> Object:
    """The pod spec with variables before all others, replacing those of the same name."""
    added = write_variables(values)
    return _change(spec, lambda given: [*added, *_without(given, values)])


def add_variables(spec: Object, variables: Variables) -> Object:
    """The pod spec with variables appended; existing ones of the same name stay."""
    return _change(spec, lambda given: [*given, *deepcopy(list(variables))])


def find_variable(spec: Object, name: str) -> str | None:
    """The value of a variable in the first container that has it; or None."""
    for container in list_containers(spec):
        for variable in container.get("env") or ():
            if variable.get("name") == name and isinstance(variable.get("value"), str):
                return str(variable["value"])
    return None


def list_containers(spec: Object) -> list[Object]:
    """All containers, including init containers."""
    return [container for field in _CONTAINERS for container in spec.get(field) or ()]


def _change(spec: Object, change: Callable[[Variables], list[Object]]) -> Object:
    changed = {
        field: [_with(container, change) for container in spec[field]]
        for field in _CONTAINERS
        if spec.get(field)
    }
    return {**spec, **changed}


def _with(container: Object, change: Callable[[Variables], list[Object]]) -> Object:
    # Each container gets its own copies: pods share no structure.
    env: Any = [dict(variable) for variable in change(container.get("env") or ())]
    return {**container, "env": env}


def _without(given: Variables, names: Mapping[str, str]) -> list[Object]:
    return [variable for variable in given if variable.get("name") not in names]
