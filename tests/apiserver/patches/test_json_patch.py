"""JSON patches: the answers are those of a real API server."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.patches.json_patch import apply_json_patch
from kohort.cluster.errors import BadRequest, Invalid, TooLarge

REFUSED = "the server rejected our request due to an error in our request"


def an_object() -> dict[str, Any]:
    return {"data": {"k": "v"}, "metadata": {"finalizers": ["a", "b"]}, "a/b": {"m~n": 1}}


def patched(*operations: dict[str, Any]) -> dict[str, Any]:
    return apply_json_patch(an_object(), list(operations))


def finalizers(*operations: dict[str, Any]) -> list[str]:
    found: list[str] = patched(*operations)["metadata"]["finalizers"]
    return found


def test_values_are_added_replaced_and_removed() -> None:
    result = patched(
        {"op": "add", "path": "/data/x", "value": "1"},
        {"op": "replace", "path": "/data/k", "value": "w"},
        {"op": "remove", "path": "/a~1b/m~0n"},
    )
    assert result == {
        "data": {"k": "w", "x": "1"},
        "metadata": {"finalizers": ["a", "b"]},
        "a/b": {},
    }


def test_lists_take_values_at_an_index_at_the_end_and_from_the_end() -> None:
    path = "/metadata/finalizers/"
    assert finalizers({"op": "add", "path": path + "0", "value": "x"}) == ["x", "a", "b"]
    assert finalizers({"op": "add", "path": path + "-", "value": "x"}) == ["a", "b", "x"]
    assert finalizers({"op": "add", "path": path + "-1", "value": "x"}) == ["a", "b", "x"]
    assert finalizers({"op": "replace", "path": path + "-1", "value": "x"}) == ["a", "x"]
    assert finalizers({"op": "remove", "path": path + "0"}) == ["b"]


def test_values_are_moved_and_copied() -> None:
    moved = patched({"op": "move", "from": "/data/k", "path": "/data/l"})
    assert moved["data"] == {"l": "v"}
    copied = patched({"op": "copy", "from": "/data/k", "path": "/data/l"})
    assert copied["data"] == {"k": "v", "l": "v"}


def test_a_replace_sets_a_key_that_is_not_there() -> None:
    assert patched({"op": "replace", "path": "/data/q", "value": "1"})["data"]["q"] == "1"


def test_what_stands_before_the_first_slash_is_ignored() -> None:
    assert patched({"op": "add", "path": "foo/data/q", "value": "1"})["data"]["q"] == "1"


def test_a_missing_key_is_tested_and_copied_as_null() -> None:
    assert patched({"op": "test", "path": "/data/none", "value": None}) == an_object()
    assert patched({"op": "copy", "from": "/data/no", "path": "/data/y"})["data"]["y"] is None


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/data/k", "value": "w"},
        {"op": "test", "path": "/a~1b/m~0n", "value": True},
        {"op": "remove", "path": "/data/none"},
        {"op": "move", "from": "/data/none", "path": "/data/y"},
        {"op": "add", "path": "/nope/none", "value": 1},
        {"op": "add", "path": "/data/k/deeper", "value": 1},
        {"op": "add", "path": "", "value": 1},
        {"op": "replace", "path": "", "value": 3},
        {"op": "zap", "path": "/data/k"},
        {"op": "add", "value": 1},
        {"op": "add", "path": "/metadata/finalizers/5", "value": "x"},
        {"op": "replace", "path": "/metadata/finalizers/9", "value": "x"},
        {"op": "remove", "path": "/metadata/finalizers/foo"},
        None,
    ],
)
def test_an_operation_that_does_not_apply_is_refused_without_details(operation: Any) -> None:
    with pytest.raises(Invalid) as caught:
        apply_json_patch(an_object(), [operation])
    assert (caught.value.message, caught.value.code) == (REFUSED, 422)


@pytest.mark.parametrize(
    ("operations", "complaint"),
    [
        ({"op": "add"}, "object into Go value of type []handlers.jsonPatchOp"),
        ("x", "string into Go value of type []handlers.jsonPatchOp"),
        ([3], "number into Go value of type handlers.jsonPatchOp"),
        ([{"op": 3}], "number into Go struct field jsonPatchOp.op of type string"),
        ([{"path": []}], "array into Go struct field jsonPatchOp.path of type string"),
    ],
)
def test_a_patch_of_the_wrong_form_is_a_bad_request(operations: Any, complaint: str) -> None:
    with pytest.raises(BadRequest) as caught:
        apply_json_patch(an_object(), operations)
    assert caught.value.message == f"error decoding patch: json: cannot unmarshal {complaint}"


def test_too_many_operations_are_too_large() -> None:
    with pytest.raises(TooLarge, match="maximum operations in a JSON patch is 10000, got 10001"):
        apply_json_patch({}, [{"op": "test", "path": "/a", "value": None}] * 10_001)


def test_a_list_for_an_object_is_invalid() -> None:
    with pytest.raises(Invalid, match=r'^ "" is invalid: patch: Invalid value: "\[1\]": couldn'):
        apply_json_patch({}, [{"op": "replace", "path": "", "value": [1]}])


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
KEYS = st.text("ab/~", min_size=1, max_size=2)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)
PATHS = st.lists(KEYS | st.sampled_from(["0", "1", "-", "-1"]), min_size=1, max_size=3)


def pointer(parts: list[str]) -> str:
    return "".join("/" + p.replace("~", "~0").replace("/", "~1") for p in parts)


def edit_in_place(obj: Any, operation: dict[str, Any], parts: list[str]) -> None:
    """A plain model of add and remove that works on a copy, or fails with a KeyError."""
    for part in parts[:-1]:
        obj = obj[part] if isinstance(obj, dict) else obj[int(part)]
    key = parts[-1]
    if isinstance(obj, dict) and operation["op"] == "add":
        obj[key] = operation["value"]
    elif isinstance(obj, dict):
        del obj[key]
    elif operation["op"] == "remove":
        del obj[int(key)]
    else:
        obj.insert(len(obj) if key == "-" else int(key), operation["value"])


@given(OBJECTS, PATHS, VALUES, st.sampled_from(["add", "remove"]))
def test_edits_agree_with_a_model_that_works_in_place(
    obj: dict[str, Any], parts: list[str], value: Any, verb: str
) -> None:
    operation = {"op": verb, "path": pointer(parts), "value": value}
    before = copy.deepcopy(obj)
    try:
        result = apply_json_patch(obj, [operation])
    except Invalid:
        assert obj == before
        return
    assert obj == before
    if "-1" not in parts:
        edit_in_place(before, operation, parts)
        assert result == before


@given(OBJECTS, PATHS, VALUES)
def test_what_was_added_to_an_object_tests_true_and_goes_away(
    obj: dict[str, Any], parts: list[str], value: Any
) -> None:
    path = pointer(["new", *parts[:1]])
    start = {**obj, "new": {}}
    added = apply_json_patch(start, [{"op": "add", "path": path, "value": value}])
    assert apply_json_patch(added, [{"op": "test", "path": path, "value": value}]) is added
    assert apply_json_patch(added, [{"op": "remove", "path": path}]) == start
