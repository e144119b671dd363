"""
Each defect of ``docs/upstream-defects.md`` names tests of its own API that keep it away.

The registers of two APIs use the same numbers, so a number alone says nothing: a test counts for
the API whose name stands in its path; outside of both, for the register that names it.
"""

import re
from pathlib import Path

import pytest
from source_files import ROOT, TESTS

PAGE = (ROOT / "docs" / "upstream-defects.md").read_text()
APIS = {"ModelServing": 21, "RoleBasedGroup": 25}
BEARS_A_NUMBER = re.compile(r"def (test_defect_(\d+)_\w+)\(")


def read_register(api: str) -> dict[int, set[str]]:
    """The tests that each defect of an API names."""
    section = PAGE.split(f"## {api}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (\d+) \|.*?\| ([^|]*) \|$", section, re.MULTILINE)
    return {int(number): set(re.findall(r"`(test_\w+)`", tests)) for number, tests in rows}


def find_api(path: Path) -> str:
    """The API that a file of tests is about; empty if its path does not say."""
    return next((api for api in APIS if api.lower() in str(path)), "")


def list_tests(api: str) -> set[str]:
    """The tests in files that are not about another API."""
    texts = [path.read_text() for path in TESTS if find_api(path) in ("", api)]
    return {name for text in texts for name in re.findall(r"def (test_\w+)\(", text)}


@pytest.mark.parametrize("api", APIS)
def test_every_defect_names_tests_of_its_own_api(api: str):
    register = read_register(api)
    assert list(register) == list(range(1, APIS[api] + 1))
    held = list_tests(api)
    assert {number for number, tests in register.items() if not tests & held} == set()
    assert {test for tests in register.values() for test in tests - held} == set()


@pytest.mark.parametrize("api", APIS)
def test_a_test_that_bears_a_number_is_named_by_that_defect(api: str):
    register = read_register(api)
    paths = [path for path in TESTS if find_api(path) == api]
    borne = {found for path in paths for found in BEARS_A_NUMBER.findall(path.read_text())}
    assert {test for test, number in borne if test not in register[int(number)]} == set()
