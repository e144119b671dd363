"""Defaulting and pruning of custom kinds."""

import copy
from typing import Any

from crd_builders import an_object, structural
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apiserver.schemas.shapes import ListType, Type
from kohort.apiserver.schemas.structural import compile_schema

LEAF = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "default": "d"},
        {"type": "string", "nullable": True},
        {"type": "integer", "default": 7, "minimum": 3},
        {"type": "boolean"},
        {"x-kubernetes-int-or-string": True},
        {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ]
)
NAMES = st.sampled_from(["a", "b", "c", "d"])


def containers(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    fields = st.dictionaries(NAMES, inner, max_size=3)
    return st.one_of(
        fields.map(lambda properties: {"type": "object", "properties": properties}),
        fields.map(lambda p: {"type": "object", "properties": p, "default": {}}),
        inner.map(lambda items: {"type": "array", "items": items}),
        inner.map(lambda values: {"type": "object", "additionalProperties": values}),
    )


SCHEMAS = st.recursive(LEAF, containers, max_leaves=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def filled(value: Any, **properties: Any) -> Any:
    obj = an_object(value)
    structural(**properties).default(obj)
    return obj["spec"]


def test_defaults_are_filled_in_below_lists_and_maps():
    entry = {"type": "object", "properties": {"d": {"type": "integer", "default": 1}}}
    assert filled(
        {"list": [{}, {"d": 2}], "map": {"k": {}}},
        list={"type": "array", "items": entry},
        map={"type": "object", "additionalProperties": entry},
    ) == {"list": [{"d": 1}, {"d": 2}], "map": {"k": {"d": 1}}}


def test_a_null_becomes_the_default_goes_away_or_stays():
    assert filled(
        {"a": None, "b": None, "c": None},
        a={"type": "string", "default": "d"},
        b={"type": "string"},
        c={"type": "string", "nullable": True, "default": "d"},
    ) == {"a": "d", "c": None}


def test_a_default_is_filled_in_by_the_defaults_below_it():
    inner = {
        "type": "object",
        "default": {},
        "properties": {"x": {"type": "integer", "default": 1}},
    }
    assert filled({}, inner=inner) == {"inner": {"x": 1}}


def test_no_two_objects_share_a_default():
    schema = structural(l={"type": "array", "default": [], "items": {"type": "string"}})
    first, second = an_object({}), an_object({})
    schema.default(first)
    schema.default(second)
    first["spec"]["l"].append("x")
    assert second["spec"]["l"] == []


def test_unknown_fields_are_named_by_their_paths_in_order():
    schema = structural(l={"type": "array", "items": {"type": "object", "properties": {}}})
    obj = an_object({"z": 1, "l": [{"q": 1}]}, extra=1)
    assert schema.prune(obj) == ["extra", "spec.l[0].q", "spec.z"]
    assert obj == an_object({"l": [{}]})


def test_metadata_is_left_to_the_server():
    obj = an_object({})
    obj["metadata"]["anything"] = 1
    assert structural().prune(obj) == []


def test_an_embedded_object_keeps_its_metadata():
    schema = structural(
        pod={
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "properties": {"spec": {"type": "object"}},
        }
    )
    metadata = {"name": "n", "x": 1}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"y": 1}, "z": 1}
    obj = an_object({"pod": pod})
    assert schema.prune(obj) == ["spec.pod.metadata.x", "spec.pod.spec.y", "spec.pod.z"]
    assert obj["spec"]["pod"]["metadata"] == {"name": "n"}


def test_the_shape_tells_how_lists_and_maps_are_merged():
    key = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}
    shape = structural(
        keyed={
            "type": "array",
            "items": key,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
        },
        whole={"type": "object", "x-kubernetes-map-type": "atomic"},
        map={"type": "object", "additionalProperties": {"type": "string"}},
        any={"x-kubernetes-int-or-string": True},
    ).shape
    spec = shape.fields["spec"].fields
    assert spec["keyed"].list_type is ListType.MAP
    assert spec["keyed"].list_keys == ("k",)
    assert spec["whole"].atomic
    assert (spec["map"].type, spec["any"].type) == (Type.MAP, Type.INT_OR_STRING)
    assert shape.fields["metadata"].fields["ownerReferences"].list_keys == ("uid",)


@settings(deadline=None)
@given(SCHEMAS, VALUES)
def test_defaulting_and_pruning_again_changes_nothing(schema: dict[str, Any], value: Any):
    compiled = compile_schema({"type": "object", "properties": {"spec": schema}})
    obj = an_object(value)
    compiled.prune(obj)
    compiled.default(obj)
    once = copy.deepcopy(obj)
    assert compiled.prune(obj) == []
    compiled.default(obj)
    assert obj == once


@settings(deadline=None)
@given(SCHEMAS, VALUES)
def test_validation_is_stable_and_changes_nothing(schema: dict[str, Any], value: Any):
    compiled = compile_schema({"type": "object", "properties": {"spec": schema}})
    obj = an_object(value)
    compiled.prune(obj)
    compiled.default(obj)
    before = copy.deepcopy(obj)
    errors = compiled.validate(obj)
    assert errors == compiled.validate(obj)
    assert obj == before
    assert compiled.validate(obj, before) == []
