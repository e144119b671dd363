"""
The server gives the answers that a real control plane gave, case by case.

A known difference stands in ``differences.yaml`` with its reason. One that no
longer exists must be struck off, so the list never promises less than we hold.
"""

from collections.abc import Iterator

import pytest
from conformance_cases import Case, load_cases, load_differences, load_recorded
from conformance_client import Client
from conformance_comparison import find_surprises
from conformance_run import run_case
from differences_page import PAGE, connect, write_page

from kohort.testing import start_cluster

CASES = load_cases()
DIFFERENCES = load_differences()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with start_cluster(nodes=2, speed=1.0) as cluster:
        yield connect(cluster, tmp_path_factory.mktemp("conformance"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.topic}: {case.name}")
def test_an_answer_is_the_real_one(client: Client, case: Case):
    recorded = load_recorded(case.topic)[case.name]
    found = find_surprises(recorded, run_case(client, case), DIFFERENCES.get(case.name, {}))
    assert not found, "\n  ".join(["answers differ:", *found])


def test_names_of_cases_are_unique():
    assert len({case.name for case in CASES}) == len(CASES)


def test_known_differences_belong_to_cases():
    assert set(DIFFERENCES) <= {case.name for case in CASES}


def test_the_page_says_what_was_compared(client: Client):
    hint = "run python tests/conformance/differences_page.py"
    assert PAGE.read_text() == write_page(client), hint
