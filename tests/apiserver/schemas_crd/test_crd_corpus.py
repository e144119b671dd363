"""The definitions of the served APIs: each is accepted, and each of its rules can be run."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kohort.apiserver.schemas.cel.rules import Rule
from kohort.apiserver.schemas.definition import default_definition, validate_definition
from kohort.apiserver.schemas.definition.defaults_and_warnings import children_of
from kohort.apiserver.schemas.structural import compile_schema

SHARED = os.environ.get("KOHORT_SHARED")
pytestmark = pytest.mark.skipif(SHARED is None, reason="KOHORT_SHARED is not set")


def read_definitions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(Path(SHARED or ".").glob("data/**/*.yaml")) if SHARED else ():
        text = path.read_text()
        if "kind: CustomResourceDefinition" in text:
            documents = yaml.load_all(text, Loader=yaml.CSafeLoader)
            found += [crd for crd in documents if "names" in ((crd or {}).get("spec") or {})]
    return found


DEFINITIONS = read_definitions()


def rules_of(schema: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for rule in schema.get("x-kubernetes-validations") or ():
        yield rule, schema
    for inner in children_of(schema):
        yield from rules_of(inner)


def a_value_of(schema: dict[str, Any]) -> Any:
    """A value that has every field, so that a rule finds what it asks for."""
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") == "object":
        fields = (schema.get("properties") or {}).items()
        return {name: a_value_of(inner) for name, inner in fields}
    if schema.get("type") == "array":
        return [a_value_of(schema["items"])]
    return {"string": "x", "boolean": True, "number": 1.5}.get(schema.get("type", ""), 1)


def test_there_are_definitions_to_look_at():
    assert len(DEFINITIONS) > 20


@pytest.mark.parametrize("crd", DEFINITIONS, ids=lambda crd: crd["metadata"]["name"])
def test_a_definition_in_use_is_accepted_and_its_rules_run(crd: dict[str, Any]):
    default_definition(crd)
    assert validate_definition(crd) == []
    for version in crd["spec"]["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        for raw, place in rules_of(schema):
            value = a_value_of(place)
            found = Rule(raw, place).find_fault(value, value)
            assert found is None or "evaluating rule" not in found[1]
        compiled = compile_schema(schema)
        obj = {"apiVersion": "a/b", "kind": "C", "metadata": {"name": "x"}}
        assert compiled.prune(obj) == []
        compiled.default(obj)
        compiled.validate(obj)
        assert compiled.shape.fields["metadata"].fields
