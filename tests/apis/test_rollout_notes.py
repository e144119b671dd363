"""The note of a rollout: read back as it was written, and nothing but whole numbers is believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.apis.carriers.pods import Note, find_note, write_note
from kohort.model.observed import Progress

numbers = st.integers(0, 2**40)
FACTS = '{{"turn": {turn}, "boundary": {boundary}, "count": 2, "noted": 2, "base": {base}}}'


@given(numbers, st.integers(0, 2_000_000), numbers, numbers, st.text())
def test_a_note_is_read_as_it_was_written(boundary, count, noted, turn, base):
    note = Note(Progress(boundary, count, noted, "target"), base, turn)
    assert find_note(write_note(note), "target") == note


@pytest.mark.parametrize(
    ("turn", "boundary", "base"),
    [
        ('"3"', "1", '"b"'),
        ("null", "1", '"b"'),
        ("[3]", "1", '"b"'),
        ("3.5", "1", '"b"'),
        ("-1", "1", '"b"'),
        ("true", "1", '"b"'),
        ("3", '"1"', '"b"'),
        ("3", "-1", '"b"'),
        ("3", "1", "null"),
    ],
)
def test_a_note_that_another_client_overwrote_does_not_count(turn, boundary, base):
    text = FACTS.format(turn=turn, boundary=boundary, base=base)
    assert find_note(text, "target") is None


def test_a_note_of_more_groups_than_a_workload_may_have_is_none():
    note = Note(Progress(0, 2_000_001, 2, "target"), "base", 1)
    assert find_note(write_note(note), "target") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"turn": 3}', "\ud800"])
def test_a_text_that_is_no_note_is_none(text):
    assert find_note(text, "target") is None
