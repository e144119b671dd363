"""An object of a built-in kind has one form, whichever client wrote it and however."""

from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.schemas.builtin import (
    MICRO_TIME,
    QUANTITY,
    TIME,
    find_go_fields,
    load_shape,
)
from kohort.apiserver.schemas.decoders.thorough import read_thoroughly
from kohort.apiserver.schemas.shapes import Shape, Type
from kohort.apiserver.schemas.strict import has_duplicates, read_object

KINDS = [
    ("v1", "Pod"),
    ("v1", "Service"),
    ("v1", "Node"),
    ("v1", "Event"),
    ("apps/v1", "StatefulSet"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
]


def form(obj: dict[str, Any], api_version: str, kind: str) -> dict[str, Any]:
    answer, problems = read_object(obj, load_shape(api_version, kind))
    assert not problems
    return answer


def test_quantities_take_their_canonical_form_even_if_given_as_numbers():
    container = {"resources": {"limits": {"cpu": 1, "memory": "1024Mi"}, "requests": {"cpu": 0.5}}}
    pod = form({"spec": {"containers": [container]}}, "v1", "Pod")
    assert pod["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "1", "memory": "1Gi"},
        "requests": {"cpu": "500m"},
    }


def test_nulls_are_absent_fields_and_empty_entries():
    container = {"name": "c", "lifecycle": None, "args": ["a", None], "env": [None]}
    metadata = {"name": "a", "labels": {"a": None, "b": "c"}}
    pod = form({"metadata": metadata, "spec": {"containers": [container]}}, "v1", "Pod")
    assert pod["metadata"]["labels"] == {"a": "", "b": "c"}
    assert pod["spec"]["containers"] == [
        {"name": "c", "args": ["a", ""], "env": [{"name": ""}], "resources": {}}
    ]


def test_what_may_be_left_out_is_left_out_if_it_is_empty():
    spec = {"hostNetwork": False, "tolerations": [], "nodeSelector": {}, "hostname": ""}
    kept = {"securityContext": {}, "terminationGracePeriodSeconds": 0, "hostUsers": False}
    pod = form({"metadata": {"name": "a"}, "spec": {**spec, **kept}}, "v1", "Pod")
    assert pod["spec"] == kept


def test_what_every_object_of_a_kind_has_is_there():
    node = form({"metadata": {"name": "n"}}, "v1", "Node")
    assert node["spec"] == {}
    assert node["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 0}}
    assert node["status"]["nodeInfo"]["kubeletVersion"] == ""
    event = form({"metadata": {}, "involvedObject": {}}, "v1", "Event")
    assert (event["eventTime"], event["source"], event["reportingComponent"]) == (None, {}, "")
    assert form({"metadata": {}}, "rbac.authorization.k8s.io/v1", "ClusterRole")["rules"] is None


def test_times_are_written_in_utc():
    event = form({"firstTimestamp": "2020-01-01T00:00:00.5+02:00"}, "v1", "Event")
    assert event["firstTimestamp"] == "2019-12-31T22:00:00Z"


def test_what_is_unknown_inside_a_nested_schema_goes_in_silence():
    items = {"type": "string", "foo": 1}
    schema = {"properties": {"a": {"items": items}, "b": {"additionalProperties": True}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    obj = form({"spec": {"versions": [version]}}, "apiextensions.k8s.io/v1", KIND)
    properties = obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert properties == {"a": {"items": {"type": "string"}}, "b": {"additionalProperties": True}}


KIND = "CustomResourceDefinition"


@pytest.mark.parametrize(
    ("raw", "answer"),
    [
        (b'{"a":1,"b":{"a":2}}', False),
        (b'{ "a" : "\\"", "b": "x:y" }', False),
        (b'{"a":1,"a":2}', True),
        (b'[{"a":{"b":"","b":""}}]', True),
    ],
)
def test_a_field_given_twice_is_noticed(raw: bytes, answer: bool):
    assert has_duplicates(orjson.loads(raw), raw) is answer


@given(st.data(), st.sampled_from(KINDS))
def test_reading_again_changes_nothing(data: st.DataObject, kind: tuple[str, str]):
    shape = load_shape(*kind)
    once, _ = read_object(data.draw(values(shape, 6)), shape)
    twice, problems = read_object(deepcopy(once), shape)
    assert (twice, problems) == (once, ())


@given(st.data(), st.sampled_from(KINDS))
def test_both_readers_give_the_same(data: st.DataObject, kind: tuple[str, str]):
    shape = load_shape(*kind)
    value = data.draw(values(shape, 6))
    thorough, problems = read_thoroughly(deepcopy(value), shape)
    assert read_object(value, shape) == (thorough, problems)
    assert problems == ()


@given(st.data(), st.sampled_from(KINDS))
def test_what_was_given_and_is_not_empty_is_still_there(data: st.DataObject, kind: tuple[str, str]):
    shape = load_shape(*kind)
    value = data.draw(values(shape, 6))
    answer, _ = read_object(deepcopy(value), shape)
    assert {key for key, inner in value.items() if inner} <= answer.keys()


@st.composite
def values(draw: st.DrawFn, shape: Shape, depth: int) -> Any:
    """Values that fit a shape, with a few of its fields each."""
    if shape.type is Type.OBJECT:
        names = st.lists(st.sampled_from(sorted(shape.fields)), max_size=4 if depth else 0)
        return {name: draw(values(shape.fields[name], depth - 1)) for name in draw(names)}
    if shape.type in (Type.LIST, Type.MAP):
        assert shape.items is not None
        keys = draw(st.lists(st.sampled_from("abc"), max_size=2 if depth else 0, unique=True))
        entries = {key: draw(values(shape.items, depth - 1)) for key in keys}
        return entries if shape.type is Type.MAP else list(entries.values())
    return draw(scalars(shape))


def scalars(shape: Shape) -> st.SearchStrategy[Any]:
    named: dict[str, st.SearchStrategy[Any]] = {
        QUANTITY: st.sampled_from(["1", "1000m", 2, "0.5Gi"]),
        TIME: st.just("2020-01-01T00:00:00+01:00"),
        MICRO_TIME: st.just("2020-01-01T00:00:00.000001Z"),
    }
    typed: dict[Type, st.SearchStrategy[Any]] = {
        Type.STRING: st.just("YQ==") if shape.format == "byte" else st.text("ab", max_size=2),
        Type.INTEGER: st.integers(-5, 5),
        Type.NUMBER: st.integers(-5, 5),
        Type.BOOLEAN: st.booleans(),
        Type.INT_OR_STRING: st.one_of(st.integers(0, 5), st.just("50%")),
        Type.ANY: st.just({"a": None, "b": []}),
    }
    return named.get(shape.name, typed[shape.type])


def test_go_knows_all_fields_of_the_kinds_drawn_here():
    for kind in KINDS:
        shape = load_shape(*kind)
        assert find_go_fields(shape.name).keys() == shape.fields.keys()
