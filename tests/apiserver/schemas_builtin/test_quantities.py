"""Quantities are read and written as a real server does; the examples are its answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohort.cluster.quantities import (
    canonical_quantity,
    milli_units,
    parse_quantity,
    whole_units,
    write_quantity,
)

ANSWERS = {
    "1": "1",
    "1000m": "1",
    "0.5": "500m",
    "1024Mi": "1Gi",
    "1.5Gi": "1536Mi",
    "0.5Ki": "512",
    "1.1Ki": "1126400m",
    "1023Ki": "1023Ki",
    "1025": "1025",
    "1024": "1024",
    "1000": "1k",
    "1500": "1500",
    "1e3": "1e3",
    "1E3": "1E3",
    "1e4": "10e3",
    "1.5e3": "1500",
    "1e-3": "1e-3",
    "1e-12": "1e-9",
    "0.1n": "1n",
    "1500u": "1500u",
    "12E": "12E",
    "1E": "1E",
    "1Ei": "1Ei",
    "1000000Ki": "1000000Ki",
    "-1": "-1",
    "+1": "+1",
    "-0.5": "-500m",
    ".5": "500m",
    "5.": "5.",
    "0": "0",
    "0Ki": "0",
    "00012": "00012",
    "1.0": "1",
    "0.0001": "100u",
    "8Ei": "9223372036854775807",
    "100Ei": "9223372036854775807",
    "9223372036854775808": "9223372036854775808",
    "1.25Mi": "1280Ki",
    "-1.1Ki": "-1126400m",
    "1.50000": "1500m",
    "-060Ti": "-060Ti",
    "123456789.123456789": "123456789.123456789",
    "123456789.1234567891": "123456789123456790n",
    "1E2": "100",
    "10e2": "1e3",
    "1e19": "10e18",
    "3.3Gi": "3543348019200m",
    "2048Ki": "2Mi",
    "0.1m": "100u",
    "1e+3": "1e+3",
    "0.001Ki": "1024m",
    "1099511627776Ki": "1Pi",
}
BAD_FORM = "quantities must match the regular expression"
BAD_SUFFIX = "unable to parse quantity's suffix"

texts = st.from_regex(
    r"[+-]?[0-9]{1,20}(\.[0-9]{1,12})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|e-?[0-9]|E[0-9])?",
    fullmatch=True,
)


@pytest.mark.parametrize("text", ANSWERS)
def test_a_quantity_is_written_as_a_real_server_writes_it(text: str):
    assert canonical_quantity(text) == ANSWERS[text]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", BAD_FORM),
        ("abc", BAD_FORM),
        (" 1", BAD_FORM),
        ("1.2.3", BAD_FORM),
        ("1Zi", BAD_FORM),
        ("1K", BAD_SUFFIX),
        ("1ki", BAD_SUFFIX),
        ("1e", BAD_SUFFIX),
        ("1e999999999", BAD_SUFFIX),
    ],
)
def test_what_is_no_quantity_is_refused_in_the_words_of_a_real_server(text: str, why: str):
    with pytest.raises(ValueError, match=why):
        canonical_quantity(text)


def test_amounts_are_counted_exactly_and_round_up():
    assert parse_quantity("1500m") == 1_500_000_000
    assert milli_units("1.5") == 1500
    assert milli_units("1u") == 1
    assert whole_units("1Gi") == 2**30
    assert whole_units("1001m") == 2
    assert whole_units(8) == 8
    assert milli_units(0.5) == 500


def test_a_sum_is_written_in_the_unit_asked_for():
    assert write_quantity(parse_quantity("512Mi") * 2, is_binary=True) == "1Gi"
    assert write_quantity(parse_quantity("500m") * 3) == "1500m"
    assert write_quantity(0, is_binary=True) == "0"


def test_an_amount_beyond_all_suffixes_keeps_its_value():
    assert canonical_quantity("1000E") == "1000E"


@given(texts)
def test_the_canonical_form_has_the_same_value_and_stays(text: str):
    canonical = canonical_quantity(text)
    assert parse_quantity(canonical) == parse_quantity(text)
    assert canonical_quantity(canonical) == canonical


@given(st.integers(-(2**62), 2**62), st.booleans())
def test_what_is_written_is_read_back(nanos: int, is_binary: bool):
    assert parse_quantity(write_quantity(nanos, is_binary=is_binary)) == nanos
