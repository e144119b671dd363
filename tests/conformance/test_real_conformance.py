"""
A real API server still gives the answers that were recorded from one.

So the record that Kohort is held to is not stale, and whoever adds a case has
recorded it rather than thought it up.
"""

import json
from collections.abc import Iterator

import pytest
from conformance_cases import Case, load_cases, load_recorded
from conformance_client import Client
from conformance_comparing import find_differences
from conformance_running import run_case

from real_plane import real_plane

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def real_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with real_plane(tmp_path_factory.mktemp("conformance") / "plane") as plane:
        config = json.loads(plane.kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        pair = (user["client-certificate"], user["client-key"])
        yield Client(cluster["server"], cluster["certificate-authority"], pair=pair)


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: f"{case.topic}: {case.name}")
def test_the_real_answer_is_the_recorded_one(real_client: Client, case: Case):
    found = find_differences(load_recorded(case.topic)[case.name], run_case(real_client, case))
    assert not found, "\n  ".join(["answers differ from the record:", *found])
