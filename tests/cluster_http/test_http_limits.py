"""The token bucket, and which requests are sent twice."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.cluster.errors import Conflict, InternalError, TooManyRequests, Unavailable
from kohort.cluster.http.frames import Lines
from kohort.cluster.http.transport import ATTEMPTS_MAX, Bucket, NotSent, find_retry_delay


def test_a_full_bucket_gives_its_burst_at_once_and_then_one_by_one():
    bucket = Bucket(10, 3)
    assert [round(bucket.take(0.0), 6) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    assert bucket.take(10.0) == 0


def test_without_a_rate_no_request_waits():
    bucket = Bucket(0, 1)
    assert [bucket.take(0.0) for _ in range(100)] == [0.0] * 100


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=80), st.integers(1, 20))
def test_the_rate_is_never_exceeded(gaps: list[float], burst: int):
    bucket, now, starts = Bucket(50, burst), 0.0, []
    for gap in gaps:
        now += gap
        starts.append(now + bucket.take(now))
    assert starts == sorted(starts)
    for i, begin in enumerate(starts):
        for j in range(i, len(starts)):
            assert j - i + 1 <= burst + (starts[j] - begin) * 50 + 1.001


@pytest.mark.parametrize(
    ("method", "error", "repeats"),
    [
        ("POST", NotSent("never seen"), True),
        ("POST", TooManyRequests("busy"), True),
        ("POST", Unavailable("perhaps applied"), False),
        ("PUT", Unavailable("perhaps applied"), False),
        ("PATCH", Unavailable("perhaps applied"), False),
        ("DELETE", Unavailable("perhaps applied"), False),
        ("DELETE", InternalError("perhaps applied"), False),
        ("GET", Unavailable("gone"), True),
        ("GET", InternalError("failed calling webhook"), False),
        ("GET", Conflict("no"), False),
    ],
)
def test_only_what_is_safe_is_repeated(method, error, repeats):
    assert (find_retry_delay(method, error, 1, Random(1)) is not None) is repeats
    assert find_retry_delay(method, error, ATTEMPTS_MAX, Random(1)) is None


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\n", b"x"))), st.data())
def test_lines_are_the_same_however_they_are_cut(pieces: list[bytes], data: st.DataObject):
    text = b"".join(piece + b"\n" for piece in pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    lines = Lines()
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    assert found == [piece for piece in pieces if piece.strip()]
