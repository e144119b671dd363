"""Updates of custom kinds: ratcheting, transition rules and the status alone."""

from typing import Any

import pytest
from crd_builders import an_object, recorded, texts

from kohort.apiserver.schemas.structural import compile_schema

RATCHETING = recorded("ratcheting")
RULES = recorded("rules")
STRICTER = compile_schema(RATCHETING["schema"])
RULED = compile_schema(RULES["schema"])


def name_of(case: dict[str, Any]) -> str:
    return f"{case['old']} to {case['new']}"


@pytest.mark.parametrize("case", RATCHETING["updates"], ids=name_of)
def test_an_update_is_refused_only_for_what_it_changes(case: dict[str, Any]):
    new = an_object(case["new"])
    new["metadata"]["labels"] = {"changed": "yes"}
    assert texts(STRICTER.validate(new, an_object(case["old"]))) == case["errors"]


@pytest.mark.parametrize("case", RULES["updates"], ids=name_of)
def test_transition_rules_compare_a_value_with_what_it_was(case: dict[str, Any]):
    assert texts(RULED.validate(an_object(case["new"]), an_object(case["old"]))) == case["errors"]


@pytest.mark.parametrize("case", RULES["statuses"], ids=lambda case: str(case["status"]))
def test_errors_of_a_status_are_told_from_the_status_on(case: dict[str, Any]):
    new = an_object({}, status=case["status"])
    assert texts(RULED.validate_status(new, an_object({}))) == case["errors"]


def test_a_wrong_kind_is_never_ratcheted():
    schema = compile_schema(
        {"type": "object", "properties": {"kind": {"type": "string", "enum": ["Other"]}}}
    )
    old = an_object({})
    new = an_object({"x": 1})
    assert [error.path for error in schema.validate(new, old)] == ["kind"]


def test_an_update_that_changes_nothing_is_never_refused():
    bad = an_object({"need": 1, "a": 1, "l": [9], "set": ["a", "a"]})
    assert not STRICTER.validate(bad, an_object({"need": 1, "a": 1, "l": [9], "set": ["a", "a"]}))


def test_transition_rules_of_a_status_compare_it_with_what_it_was():
    rule = {"rule": "self >= oldSelf", "message": "must not go down"}
    count = {"type": "integer", "x-kubernetes-validations": [rule]}
    status = {"type": "object", "properties": {"count": count}}
    schema = compile_schema({"type": "object", "properties": {"status": status}})
    old = an_object({}, status={"count": 3})
    assert texts(schema.validate_status(an_object({}, status={"count": 2}), old)) == [
        "status.count: Invalid value: 2: must not go down"
    ]
    assert texts(schema.validate_status(an_object({}, status={"count": 4}), old)) == []
    assert texts(schema.validate_status(an_object({}, status={"count": 2}), an_object({}))) == []
