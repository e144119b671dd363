"""Times and bytes take one form, and what is wrong with them is said as a real server says it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apiserver.schemas.decoders.times import (
    canonical_bytes,
    canonical_micro_time,
    canonical_time,
)

LAYOUT = '"2006-01-02T15:04:05Z07:00"'
MICRO_LAYOUT = '"2006-01-02T15:04:05.000000Z07:00"'


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
        ("2020-01-01T00:00:00.123+02:00", "2019-12-31T22:00:00Z"),
        ("2020-01-01T00:00:00,5Z", "2020-01-01T00:00:00Z"),
    ],
)
def test_a_time_is_written_in_whole_seconds_of_utc(text: str, answer: str):
    assert canonical_time(text) == answer


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x", f'"x" as {LAYOUT}: cannot parse "x" as "2006"'),
        ("2020", f'"2020" as {LAYOUT}: cannot parse "" as "-"'),
        ("2020-2-03", f'"2020-2-03" as {LAYOUT}: cannot parse "2-03" as "01"'),
        ("2020-13-01T00:00:00Z", '"2020-13-01T00:00:00Z": month out of range'),
        ("2020-02-30T00:00:00Z", '"2020-02-30T00:00:00Z": day out of range'),
        ("2020-02-03T25:00:00Z", '"2020-02-03T25:00:00Z": hour out of range'),
        ("2020-02-03T00:00:00Zx", '"2020-02-03T00:00:00Zx": extra text: "x"'),
        (
            "2020-02-03T00:00:00+99:00",
            '"2020-02-03T00:00:00+99:00": time zone offset hour out of range',
        ),
    ],
)
def test_a_bad_time_is_told_in_the_words_of_a_real_server(text: str, why: str):
    with pytest.raises(ValueError) as caught:
        canonical_time(text)
    assert str(caught.value) == f"parsing time {why}"


def test_a_micro_time_has_six_places_exactly():
    assert canonical_micro_time("2020-01-01T00:00:00.5" + "0" * 5 + "+01:00") == (
        "2019-12-31T23:00:00.500000Z"
    )
    with pytest.raises(ValueError) as caught:
        canonical_micro_time("2020-01-01T00:00:00Z")
    assert str(caught.value) == (
        f'parsing time "2020-01-01T00:00:00Z" as {MICRO_LAYOUT}: cannot parse "Z" as ".000000"'
    )


@pytest.mark.parametrize(
    ("text", "answer"), [("YQ==", "YQ=="), ("YWJj\nYWJj", "YWJjYWJj"), ("", ""), ("YR==", "YQ==")]
)
def test_bytes_are_written_without_line_ends(text: str, answer: str):
    assert canonical_bytes(text) == answer


@pytest.mark.parametrize(("text", "place"), [("YQ", 0), ("Y!==", 1), ("YQ==YQ==", 4), ("abcde", 4)])
def test_bad_bytes_are_told_by_their_place(text: str, place: int):
    with pytest.raises(ValueError, match=f"illegal base64 data at input byte {place}$"):
        canonical_bytes(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_moment_is_read_back(moment: datetime):
    text = moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    assert canonical_micro_time(text) == text
    assert canonical_time(canonical_time(text)) == text[:19] + "Z"
