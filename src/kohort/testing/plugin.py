"""
This is where pytest meets Kohort: two fixtures and three options.

Nothing of the simulator is imported before a test asks for a cluster.
"""

import re
from collections.abc import Iterator
from itertools import count

import pytest

from kohort.testing.clusters import Cluster, start_cluster

_numbers = count(1)
_NAME_LENGTH_MAX = 50


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the size and the speed of the cluster, as flags and in the ini file."""
    group = parser.getgroup("kohort", "a Kubernetes cluster in the test process")
    group.addoption("--kohort-nodes", type=int, metavar="N", help="simulated nodes (default: 8)")
    group.addoption(
        "--kohort-speed", type=float, metavar="X", help="how fast delays pass (default: 100)"
    )
    group.addoption(
        "--kohort-late-events",
        action="store_true",
        default=None,
        help="let watch events come after the answers to the writes that caused them",
    )
    parser.addini("kohort_nodes", "simulated nodes of kohort_cluster", default="8")
    parser.addini("kohort_speed", "how fast simulated delays pass", default="100")
    parser.addini("kohort_late_events", "let watch events come after answers", type="bool")


@pytest.fixture(scope="session")
def kohort_cluster(pytestconfig: pytest.Config) -> Iterator[Cluster]:
    """A Kubernetes cluster that lives as long as the test run."""
    nodes = pytestconfig.getoption("--kohort-nodes")
    speed = pytestconfig.getoption("--kohort-speed")
    nodes = int(pytestconfig.getini("kohort_nodes")) if nodes is None else nodes
    speed = float(pytestconfig.getini("kohort_speed")) if speed is None else speed
    late = pytestconfig.getoption("--kohort-late-events")
    late = bool(pytestconfig.getini("kohort_late_events")) if late is None else late
    with start_cluster(nodes=nodes, speed=speed, late_events=late) as cluster:
        yield cluster


@pytest.fixture
def kohort_namespace(kohort_cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of an empty namespace, which is deleted after the test."""
    plain = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:_NAME_LENGTH_MAX].strip("-")
    with kohort_cluster.namespace(f"{plain}-{next(_numbers)}") as name:
        yield name
