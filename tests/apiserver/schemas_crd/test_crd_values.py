"""Values of custom kinds, held against the recorded answers of a real server."""

from typing import Any

import pytest
from crd_builders import an_object, recorded, structural, texts

from kohort.apiserver.schemas.structural import compile_schema

VALUES = recorded("values")
COMPILED = compile_schema(VALUES["schema"])


@pytest.mark.parametrize("case", VALUES["cases"], ids=lambda case: str(case["spec"])[:60])
def test_a_create_gets_the_answer_that_was_recorded(case: dict[str, Any]):
    obj = an_object(case["spec"])
    assert COMPILED.prune(obj) == case.get("unknown", [])
    COMPILED.default(obj)
    assert texts(COMPILED.validate(obj)) == case.get("errors", [])
    if "stored" in case:
        assert obj["spec"] == case["stored"]


def test_an_error_names_its_field_and_its_type():
    [error] = structural(replicas={"type": "integer"}).validate(an_object({"replicas": "three"}))
    assert error.path == "spec.replicas"
    assert error.cause()["reason"] == "FieldValueTypeInvalid"


def test_errors_of_several_fields_are_all_reported():
    schema = structural(a={"type": "integer"}, b={"type": "string", "minLength": 2})
    assert len(schema.validate(an_object({"a": "x", "b": "y"}))) == 2


def test_duplicates_are_reported_after_all_other_problems():
    schema = structural(
        a={"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        b={"type": "integer"},
    )
    found = schema.validate(an_object({"a": ["x", "x"], "b": "y"}))
    assert [error.path for error in found] == ["spec.b", "spec.a[1]"]


def test_a_field_of_a_closed_map_is_forbidden():
    schema = structural(none={"type": "object", "additionalProperties": False})
    assert texts(schema.validate(an_object({"none": {"k": 1}}))) == [
        'spec.none: Invalid value: "k": spec.none.k in body is a forbidden property'
    ]


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("^a$", "a", "a\n"),
        (r"^\d+$", "12", "१२"),
        ("^[[:alpha:]]+$", "ab", "a1"),
        (r"^[^]a]+$", "b", "]"),
        (r"\z", "", None),
        ("^[a$]+$", "a$", "b"),
    ],
)
def test_patterns_mean_what_they_mean_to_the_api(pattern: str, good: str, bad: str | None):
    schema = structural(s={"type": "string", "pattern": pattern})
    assert not schema.validate(an_object({"s": good}))
    if bad is not None:
        assert schema.validate(an_object({"s": bad}))
