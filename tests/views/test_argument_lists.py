"""Lists of arguments are compared flag by flag."""

from kohort.views.rollouts import compare_arguments, split_arguments


def test_a_flag_and_its_value_belong_together():
    words = ["serve", "--tp", "8", "--mem=0.85", "-v", "--port", "80", "model"]
    assert split_arguments(words) == ["serve", "--tp 8", "--mem=0.85", "-v", "--port 80", "model"]


def test_only_flags_that_differ_are_told():
    old, new = ["--tp", "8", "--mem", "0.85"], ["--tp", "8", "--mem", "0.88", "--fast"]
    assert compare_arguments(old, new) == ("--mem 0.85", "--mem 0.88 --fast")


def test_a_list_that_comes_or_goes_is_told_whole():
    assert compare_arguments(None, ["--tp", "8"]) == ("", "--tp 8")
    assert compare_arguments(["--tp", "8"], []) == ("--tp 8", "")


def test_another_order_is_told_whole():
    assert compare_arguments(["a", "b"], ["b", "a"]) == ("a b", "b a")
