"""Sets of fields: the algebra agrees with plain sets of paths."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.patches.elements import spell_path
from kohort.apiserver.patches.fieldsets import (
    Fields,
    difference,
    find_fault,
    intersection,
    list_members,
    make_fields,
    remove_below,
    union,
)

Paths = set[tuple[str, ...]]
STEPS = st.sampled_from(["f:a", "f:b", 'k:{"name":"c"}', 'v:"x"'])
PATHS = st.lists(STEPS, min_size=1, max_size=3).map(tuple)
SETS = st.frozensets(PATHS, max_size=6)


def members(fields: Fields) -> Paths:
    return set(list_members(fields))


def test_a_member_with_members_below_it_is_marked() -> None:
    fields = make_fields([("f:spec", "f:labels"), ("f:spec", "f:labels", "f:app")])
    assert fields == {"f:spec": {"f:labels": {".": {}, "f:app": {}}}}


def test_what_is_left_of_a_node_is_written_in_its_shortest_form() -> None:
    fields: dict[str, Any] = {"f:labels": {".": {}, "f:app": {}}}
    assert difference(fields, {"f:labels": {"f:app": {}}}) == {"f:labels": {}}
    assert difference(fields, {"f:labels": {}}) == {"f:labels": {"f:app": {}}}
    assert difference(fields, fields) == {}


def test_a_set_that_loses_nothing_is_the_same_set() -> None:
    fields = make_fields([("f:a", "f:b"), ("f:c",)])
    other = make_fields([("f:a",), ("f:a", "f:x"), ("f:d",)])
    assert difference(fields, other) is fields
    assert union(fields, {"f:c": {}}) is fields
    assert remove_below(fields, make_fields([("f:d",)])) is fields


def test_members_are_listed_level_by_level() -> None:
    paths = [
        ("f:spec", 'k:{"name":"c"}', "f:image"),
        ("f:spec", "f:whole"),
        ("f:spec", "f:deep", "f:er"),
        ("f:data",),
    ]
    assert [spell_path(path) for path in list_members(make_fields(paths))] == [
        ".data",
        ".spec.whole",
        ".spec.deep.er",
        '.spec[name="c"].image',
    ]


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        (("f:a", 'k:{"containerPort":80,"protocol":"TCP"}'), '.a[containerPort=80,protocol="TCP"]'),
        (("f:a", 'v:"x"'), '.a[="x"]'),
        (("f:a", "i:3"), ".a[3]"),
    ],
)
def test_paths_are_spelled_as_the_server_does(steps: tuple[str, ...], text: str) -> None:
    assert spell_path(steps) == text


@pytest.mark.parametrize("fields", [[], {"data": {}}, {"f:a": {"x:b": {}}}, {"f:a": 1}])
def test_a_malformed_set_is_noticed(fields: Any) -> None:
    assert find_fault(fields)
    assert not find_fault({"f:a": {".": {}, 'k:{"a":1}': {}, "v:1": {}, "i:0": {}}})


@given(SETS)
def test_a_set_holds_what_it_was_made_of(paths: frozenset[tuple[str, ...]]) -> None:
    fields = make_fields(paths)
    assert members(fields) == set(paths)
    assert make_fields(list_members(fields)) == fields
    assert not find_fault(fields)


@given(SETS, SETS)
def test_the_operations_agree_with_plain_sets(
    left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]
) -> None:
    one, other = make_fields(left), make_fields(right)
    assert members(union(one, other)) == left | right
    assert members(difference(one, other)) == left - right
    assert members(intersection(one, other)) == left & right
    assert union(one, other) == union(other, one)
    assert (one, other) == (make_fields(left), make_fields(right))


@given(SETS, SETS)
def test_results_are_in_their_shortest_form(
    left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]
) -> None:
    one, other = make_fields(left), make_fields(right)
    for operation in (union, difference, intersection, remove_below):
        result = operation(one, other)
        assert make_fields(list_members(result)) == result


@given(SETS, SETS)
def test_what_is_below_a_member_goes_with_it(
    left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]
) -> None:
    rest = members(remove_below(make_fields(left), make_fields(right)))
    assert rest == {p for p in left if not any(p[: len(q)] == q for q in right)}
