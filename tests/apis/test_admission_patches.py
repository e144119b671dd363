"""JSON patches: what an answer of the webhook says has changed."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.patches.json_patch import apply_json_patch
from kohort.cluster.objects import Object
from kohort.cluster.patches import to_json_patch

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text("ab/~", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab/~", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text("ab/~", min_size=1, max_size=2), VALUES, max_size=4)


def test_only_what_differs_is_named():
    old = {"metadata": {"labels": {"a/b": "1"}}, "spec": {"x": [{"env": [1]}, 2]}, "gone": 1}
    new = {"metadata": {"labels": {"a/b": "2", "c~": "3"}}, "spec": {"x": [{"env": [0, 1]}, 2]}}
    assert to_json_patch(old, new) == [
        {"op": "remove", "path": "/gone"},
        {"op": "replace", "path": "/metadata/labels/a~1b", "value": "2"},
        {"op": "add", "path": "/metadata/labels/c~0", "value": "3"},
        {"op": "replace", "path": "/spec/x/0/env", "value": [0, 1]},
    ]


def test_equal_objects_need_no_patch():
    assert to_json_patch({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}) == []


@given(OBJECTS, OBJECTS)
def test_the_patch_makes_the_new_object_out_of_the_old_one(old: Object, new: Object):
    patched = apply_json_patch(old, to_json_patch(old, new))
    assert _typed(patched) == _typed(new)


def _typed(value: Any) -> Any:
    """True and 1 are equal in Python and not in JSON."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    return type(value), value
