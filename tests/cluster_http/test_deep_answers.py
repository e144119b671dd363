"""An object of any depth costs itself, and not the list or the watch that it comes in."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.cluster.http.frames import cut_deep, read_line, read_object, read_page

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def deep(levels: int) -> bytes:
    inner = b'{"a":[' * levels + b'"}]"' + b"]}" * levels
    return b'{"metadata":{"name":"deep"},"data":' + inner + b"}"


def measure(value: object) -> int:
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(measure, inner), default=0)


@pytest.mark.parametrize("levels", [600, 5000])
def test_a_list_with_a_deep_object_is_read(levels):
    body = b'{"items":[' + deep(levels) + b',{"metadata":{"name":"b"}}],'
    page = read_page(body + b'"metadata":{"resourceVersion":"7"}}')
    assert page.version == "7"
    names = [orjson.loads(item)["metadata"]["name"] for item in page.items]
    assert names == ["deep", "b"]


@pytest.mark.parametrize("levels", [600, 5000])
def test_a_watch_goes_on_past_a_deep_object(levels):
    change = read_line(b'{"type":"ADDED","object":' + deep(levels) + b"}")
    assert orjson.loads(change.raw)["metadata"]["name"] == "deep"
    assert read_object(deep(levels))["metadata"]["name"] == "deep"


@given(VALUES, st.integers(1, 6))
def test_what_is_cut_is_as_deep_as_allowed_and_the_rest_stays(value, limit):
    raw = orjson.dumps(value)
    left = orjson.loads(cut_deep(raw, limit))
    assert measure(left) <= limit
    if measure(value) <= limit:
        assert left == value
