"""Arguments of an engine, merged flag by flag."""

import pytest

from kohort.apis.inferenceservice.components.arguments import (
    PIPELINE_FLAGS,
    TENSOR_FLAGS,
    merge_arguments,
    set_size,
)


@pytest.mark.parametrize(
    ("args", "override", "merged"),
    [
        (["--a=1"], [], ["--a=1"]),
        ([], ["--a"], ["--a"]),
        (["--a=1", "--b"], ["--a=2"], ["--a=2", "--b"]),
        (["--a", "1", "--b"], ["--a", "2"], ["--a", "2", "--b"]),
        (["--a", "1", "--b"], ["--a=2"], ["--a=2", "--b"]),
        (["--a=1"], ["--c", "3", "--d"], ["--a=1", "--c", "3", "--d"]),
        (["serve", "--a"], ["serve"], ["serve", "--a"]),
        (["--on", "--a", "1"], ["--a", "2"], ["--on", "--a", "2"]),
        (["--a 1", "--b 2"], ["--b 3"], ["--a 1", "--b 3"]),
    ],
)
def test_the_same_flag_is_replaced_in_its_place_and_new_ones_follow(args, override, merged):
    assert merge_arguments(args, override) == merged


def test_a_script_of_many_lines_is_merged_line_by_line():
    script = "python3 -m serve \\\n  --tp-size 8 \\\n  --mem=0.5"
    merged = merge_arguments([script, "rest"], ["--mem=0.9", "--new", "1"])
    assert merged == ["python3 -m serve \\\n--tp-size 8 \\\n--mem=0.9 \\\n--new 1", "rest"]


@pytest.mark.parametrize(
    ("args", "command", "done"),
    [
        (["--tp-size=2"], [], (["--tp-size=4"], [])),
        (["--tp", "2"], ["--tp", "2"], (["--tp", "4"], ["--tp", "2"])),
        (["x"], ["--tensor-parallel-size", "2"], (["x"], ["--tensor-parallel-size", "4"])),
        (["--tp=1", "--tp-size=1"], [], (["--tp=1", "--tp-size=4"], [])),
        (["serve \\\n--tp-size 8 \\\n--x"], [], (["serve \\\n--tp-size 4 \\\n--x"], [])),
        (["--tp 2"], [], (["--tp 4"], [])),
        (["--tp"], [], (["--tp"], [])),
        (["--other"], ["serve"], (["--other"], ["serve"])),
    ],
)
def test_a_size_goes_to_the_first_flag_that_is_there(args, command, done):
    assert set_size(args, command, TENSOR_FLAGS, 4) == done


def test_a_size_of_zero_changes_nothing():
    assert set_size(["--pp", "2"], [], PIPELINE_FLAGS, 0) == (["--pp", "2"], [])
