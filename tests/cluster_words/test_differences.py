"""Only what is wanted is compared, and the path says where it stands."""

from typing import Any

from kohort.cluster.differences import list_differences


def list_paths(wanted: Any, found: Any, **options: Any) -> list[str]:
    return [path for path, _, _ in list_differences(wanted, found, **options)]


def test_fields_of_other_clients_are_no_difference():
    assert list_paths({"spec": {"a": 1}}, {"spec": {"a": 1, "b": 2}, "status": {}}) == []


def test_a_missing_field_and_another_value_are_differences_with_both_values():
    found = list(list_differences({"spec": {"a": 1, "b": {"c": 2}}}, {"spec": {"a": 3}}))
    assert found == [("spec.a", 1, 3), ("spec.b.c", 2, None)]


def test_items_of_lists_of_one_length_are_compared_one_by_one():
    wanted = {"containers": [{"name": "a", "image": "x:2"}, {"name": "b"}]}
    found = {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y"}]}
    assert list_paths(wanted, found) == ["containers[0].image"]


def test_lists_of_other_lengths_differ_as_a_whole():
    assert list_paths({"args": ["a"]}, {"args": ["a", "b"]}) == ["args"]


def test_an_atomic_field_is_compared_as_a_whole():
    wanted, found = {"selector": {"app": "x"}}, {"selector": {"app": "x", "tier": "y"}}
    assert list_paths(wanted, found) == []
    assert list_paths(wanted, found, atomic=("selector",)) == ["selector"]


def test_a_key_of_ours_that_is_not_wanted_any_more_is_a_difference():
    found = {"labels": {"ours/a": "1", "theirs/b": "2"}}
    paths = list_paths({"labels": {}}, found, is_ours=lambda key: key.startswith("ours/"))
    assert paths == ["labels.ours/a"]


def test_a_value_that_is_no_object_has_an_empty_path():
    assert list(list_differences(1, 2)) == [("", 1, 2)]
