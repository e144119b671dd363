"""Versions and sizes: which models a runtime's numbers take."""

import pytest
from isvc_builders import runtime

from kohort.apis.inferenceservice.resolution.sizes import (
    count_parameters,
    is_in_range,
    measure_distance,
)
from kohort.apis.inferenceservice.resolution.versions import accepts_version, find_version
from kohort.apis.inferenceservice.runtimes import read_runtime

EQ, GT, GE = "Equal", "GreaterThan", "GreaterThanOrEqual"
CASES = [
    # runtime, model, operator, taken
    ("1.0.0", "1.0.0", EQ, True),
    ("1", "1.0.0", EQ, True),
    ("v1.0", "1.0.0", EQ, True),
    ("1.0.1", "1.0.0", EQ, False),
    ("4.43.0", "4.40.0", GT, True),
    ("4.43.0", "4.43.0", GT, False),
    ("4.43.0", "4.43.0", GE, True),
    ("4.43.0", "4.44.0", GE, False),
    ("4.43", "4.40.0", GE, False),
    ("v4.43.0", "4.40.0", GE, False),
    ("4.51.0.dev0", "4.51.0.dev0", GE, True),
    ("4.52.0", "4.51.0.dev0", GE, False),
    ("4.52.0", "4.51.0-rc1", GT, False),
    ("4.52.0+cu1", "4.52.0+cu1", GT, True),
    ("01.0.0", "1.0.0", EQ, False),
    ("latest", "latest", EQ, False),
    ("1.0.0", "1.0.0", "LessThan", False),
]


@pytest.mark.parametrize(("ours", "theirs", "operator", "taken"), CASES)
def test_a_runtime_takes_versions_up_to_its_own(ours, theirs, operator, taken):
    assert accepts_version(ours, theirs, operator) is taken


def test_a_version_is_split_at_its_first_two_dots():
    found = find_version("v4.51.3.dev0-rc1+cu12")
    assert (found.numbers, found.precision, found.has_prefix) == ((4, 51, 3), 3, True)
    assert (found.dev, found.prerelease, found.build) == ("dev0", "rc1", "cu12")


@pytest.mark.parametrize(
    ("text", "count"),
    [("7B", 7e9), ("0.5B", 5e8), ("350M", 3.5e8), ("1T", 1e12), ("12", 12), ("7b", 0), ("", 0)],
)
def test_a_size_is_a_number_with_a_unit(text: str, count: float):
    assert count_parameters(text) == count


def ranged(**ends: str):
    return read_runtime(runtime(modelSizeRange=ends))


@pytest.mark.parametrize(
    ("ends", "is_in"),
    [
        ({"min": "650B", "max": "700B"}, True),
        ({"min": "671B", "max": "671B"}, True),
        ({"min": "672B", "max": "700B"}, False),
        ({"min": "600B", "max": "670B"}, False),
        ({"min": "650B"}, True),
        ({"max": "650B"}, False),
        ({}, True),
    ],
)
def test_an_end_that_is_not_said_is_open(ends: dict, is_in: bool):
    assert is_in_range("671B", ranged(**ends)) is is_in


def test_the_distance_counts_both_ends():
    assert measure_distance("8B", ranged(min="7B", max="10B")) == 3e9
    assert measure_distance("8B", read_runtime(runtime())) == 0
