"""
A real API server still gives the recorded answers, and ours gives them but for known differences.

So the record that Kohort is held to is not stale, the author of a case has recorded it
rather than thought it up, and the list of differences is neither too short nor too long.
"""

import json
from collections.abc import Iterator

import pytest
from conformance_cases import Case, load_cases, load_differences, load_recorded
from conformance_client import Client
from conformance_comparison import find_differences, find_surprises, ignore_order
from conformance_pairs import PairRuns

from control_plane import ControlPlane, real_plane
from kohort.testing import Cluster, start_cluster

pytestmark = pytest.mark.real
DIFFERENCES = load_differences()


@pytest.fixture(scope="module")
def pairs(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[PairRuns]:
    folder = tmp_path_factory.mktemp("conformance")
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    cases = {i.callspec.params["case"].name: i.callspec.params["case"] for i in items if is_ours(i)}  # type: ignore[attr-defined]
    with real_plane(folder / "plane") as plane, start_cluster(nodes=2, speed=1.0) as cluster:
        (folder / "ca.crt").write_text(cluster.ca)
        runs = PairRuns(
            lambda: connect_real(plane),
            lambda: connect_ours(cluster, str(folder / "ca.crt")),
            list(cases.values()),
        )
        yield runs
        runs.close()


def is_ours(item: pytest.Function) -> bool:
    return item.path.name == "test_real_conformance.py"


def connect_real(plane: ControlPlane) -> Client:
    """As the administrator of a real cluster."""
    config = json.loads(plane.kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    pair = (user["client-certificate"], user["client-key"])
    return Client(cluster["server"], cluster["certificate-authority"], pair=pair)


def connect_ours(cluster: Cluster, ca: str) -> Client:
    """As the administrator of an embedded one."""
    return Client(cluster.url, ca, token=cluster.token)


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: f"{case.topic}: {case.name}")
def test_both_servers_answer_as_they_should(pairs: PairRuns, case: Case):
    pair = pairs.wait_for(case)
    recorded = load_recorded(case.topic)[case.name]
    found = find_differences(ignore_order(recorded), ignore_order(pair.real))
    assert not found, "\n  ".join(["the real answers differ from the record:", *found])
    found = find_surprises(recorded, pair.ours, DIFFERENCES.get(case.name, {}))
    assert not found, "\n  ".join(["our answers differ from the real ones:", *found])
