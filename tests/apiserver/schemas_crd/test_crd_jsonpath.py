"""JSON paths of columns and scale."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.apiserver.schemas.jsonpath import PathError, compile_path

THING = {
    "spec": {"replicas": 3, "items": [{"a": 1}, {"a": 2, "n": "x"}]},
    "metadata": {"labels": {"a.b/c": "v", "plain": "p"}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "X", "status": "?"}]},
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".spec.replicas", [3]),
        ("{.spec.replicas}", [3]),
        ("$.spec.replicas", [3]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='X')].status", ["?"]),
        (".status.conditions[?(@.type!='X')].type", ["Ready"]),
        (r".metadata.labels['a\.b/c']", ["v"]),
        (r".metadata.labels.a\.b/c", ["v"]),
        ('.metadata.labels["plain"]', ["p"]),
        (".metadata.labels.*", ["v", "p"]),
        (".spec.items[*].a", [1, 2]),
        (".spec.items[0].a", [1]),
        (".spec.items[-1].a", [2]),
        (".spec.items[5].a", []),
        (".spec.items[0:1].a", [1]),
        (".spec.items[0,1].a", [1, 2]),
        (".spec.items[?(@.a>1)].n", ["x"]),
        (".spec.items[?(@.n)].a", [2]),
        ("..a", [1, 2]),
        (".missing.x", []),
        (".", [THING]),
    ],
)
def test_a_path_leads_to_its_values_in_order(path: str, values: list[Any]):
    assert compile_path(path)(THING) == values


@pytest.mark.parametrize("path", [".x[", ".x[?(", ".x[foo]", ".x{", ".x[?(@.a==b)]", ".x[::0]"])
def test_a_text_that_is_no_path_is_refused(path: str):
    with pytest.raises(PathError):
        compile_path(path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner),
)
STEPS = st.lists(
    st.sampled_from(
        [".a", ".b", "[0]", "[*]", "[-1]", "[?(@.a==1)]", "[?(@.a<@.b)]", "['c']", "..a"]
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None)
@given(STEPS, JSON)
def test_a_path_never_fails_on_any_object(steps: list[str], value: Any):
    assert isinstance(compile_path("".join(steps))({"a": value, "b": [value]}), list)


@settings(deadline=None)
@given(st.text(".[]?()@$'\"abc0*:,=<\\{} ", max_size=12))
def test_any_text_is_a_path_or_is_refused(text: str):
    try:
        path = compile_path(text)
    except PathError:
        return
    assert isinstance(path(THING), list)
