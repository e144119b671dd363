"""A large part that many schemas share is looked at once, for each question and each place."""

from typing import Any

from kohort.apiserver.schemas.definition.defaults_and_warnings import warnings_of
from kohort.apiserver.schemas.definition.schema import find_schema_errors
from kohort.apiserver.schemas.structural.shape import shape_of

ROOT = "spec.validation.openAPIV3Schema"


def large(**changed: Any) -> dict[str, Any]:
    """A part with twelve fields, some of them of the test."""
    fields: dict[str, Any] = {f"field{number}": {"type": "string"} for number in range(12)}
    return {"type": "object", "properties": fields | changed}


def under(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def find(schema: dict[str, Any]) -> list[str]:
    return [str(error) for error in find_schema_errors(schema, ROOT, has_status=False)]


def test_a_default_that_is_fine_in_a_spec_is_an_error_in_metadata():
    part = large(name={"type": "string", "default": "x"})
    assert find(under(spec=part)) == []
    [told] = find(under(spec=part, metadata=under(labels=part)))[-1:]
    assert "must not be set in top-level metadata" in told


def test_a_rule_that_is_fine_for_a_field_is_an_error_in_a_list_without_keys():
    part = large() | {"x-kubernetes-validations": [{"rule": "self.field1 == oldSelf.field1"}]}
    assert find(under(spec=part)) == []
    assert find(under(specs={"type": "array", "items": part})) != []


def test_an_error_in_a_large_part_is_told_at_each_of_its_places():
    part = large(bad={"type": "odd"})
    told = find(under(first=part, second=part))
    assert sum("first" in each for each in told) == sum("second" in each for each in told) == 1
    assert find(under(first=part, second=part)) == told


def test_an_unknown_format_in_a_large_part_is_told_each_time():
    part = large(odd={"type": "string", "format": "odd"})
    crd = {"spec": {"versions": [{"schema": {"openAPIV3Schema": under(spec=part)}}]}}
    assert warnings_of(crd) == warnings_of(crd) == ['unrecognized format "odd"']


def test_equal_large_parts_have_one_shape_and_others_have_their_own():
    shape = shape_of(under(first=large(), second=large(), third=large(more={"type": "integer"})))
    assert shape.fields["first"] is shape.fields["second"]
    assert "more" in shape.fields["third"].fields
    assert "more" not in shape.fields["first"].fields


def test_a_part_is_another_shape_as_a_whole_object():
    part = large()
    assert "metadata" not in shape_of(part).fields
    assert "metadata" in shape_of(part, root=True).fields
