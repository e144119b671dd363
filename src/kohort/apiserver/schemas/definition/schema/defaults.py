"""
Defaults in a schema: each must be a valid value of the place where it stands.
"""

from collections.abc import Iterable, Iterator

from kohort.apiserver.schemas.cel import find_rules
from kohort.apiserver.schemas.definition.field_errors import invalid
from kohort.apiserver.schemas.result_cache import look_once
from kohort.apiserver.schemas.structural.checks import compile_check
from kohort.apiserver.schemas.structural.defaults import copy_json
from kohort.apiserver.schemas.structural.node import Node
from kohort.apiserver.schemas.structural.prune import prune
from kohort.cluster.fields import FieldError
from kohort.cluster.objects import Object


def find_default_errors(schema: Object, path: str) -> Iterable[FieldError]:
    """The errors in the defaults of a schema and of all schemas in it."""
    return look_once("defaults", schema, lambda: _visit(schema, path))


def _visit(schema: Object, path: str) -> Iterator[FieldError]:
    if schema.get("default") is not None:
        yield from _check_default(schema, f"{path}.default")
    if isinstance(schema.get("items"), dict):
        yield from find_default_errors(schema["items"], f"{path}.items")
    for name, inner in (schema.get("properties") or {}).items():
        yield from find_default_errors(inner, f"{path}.properties[{name}]")


def _check_default(schema: Object, path: str) -> Iterator[FieldError]:
    value = schema["default"]
    pruned = copy_json(value)
    prune(pruned, Node(schema))
    if pruned != value:
        yield invalid(path, value, "must not have unknown fields")
    problems = compile_check(schema)(value)
    if problems:
        yield from (problem.render(path) for problem in problems)
        return
    rules = find_rules(schema) if "x-kubernetes-validations" in schema else None
    if rules is not None:
        for error in rules.evaluate(value, value) or rules.evaluate(value, None):
            where = path if error.path == "<nil>" else f"{path}.{error.path}"
            yield FieldError(error.fault, where, error.detail, error.value)
