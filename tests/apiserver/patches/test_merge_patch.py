"""Merge patches: the examples of RFC 7386, and the definition itself as a model."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.patches.merge_patch import apply_merge_patch
from kohort.cluster.errors import BadRequest


@pytest.mark.parametrize(
    ("obj", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_patch_is_laid_over_the_object(
    obj: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]
) -> None:
    assert apply_merge_patch(obj, patch) == result


@pytest.mark.parametrize(
    ("patch", "complaint"), [([1], "array"), (3, "number"), ("x", "string"), (True, "bool")]
)
def test_a_patch_that_is_not_an_object_is_a_bad_request(patch: Any, complaint: str) -> None:
    with pytest.raises(BadRequest) as caught:
        apply_merge_patch({}, patch)
    assert caught.value.message == (
        f"error decoding patch: json: cannot unmarshal {complaint} "
        "into Go value of type map[string]interface {}"
    )


SCALARS = st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2)
KEYS = st.text("abc", min_size=1, max_size=1)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    values = st.recursive(
        leaves | st.lists(SCALARS, max_size=2),
        lambda inner: st.dictionaries(KEYS, inner, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(KEYS, values, max_size=3)


def merge(target: Any, patch: Any) -> Any:
    """The definition in the RFC, word for word."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge(result.get(name), value)
    return result


@given(nested(SCALARS), nested(SCALARS | st.none()))
def test_patches_agree_with_the_definition(obj: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((obj, patch))
    assert apply_merge_patch(obj, patch) == merge(obj, patch)
    assert (obj, patch) == before


@given(nested(SCALARS), nested(SCALARS | st.none()))
def test_a_patch_applied_twice_changes_nothing_more(
    obj: dict[str, Any], patch: dict[str, Any]
) -> None:
    once = apply_merge_patch(obj, patch)
    assert apply_merge_patch(once, patch) == once
