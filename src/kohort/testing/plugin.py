"""
The pytest plugin: two fixtures, some options, and a dump of the namespace after a failure.

Nothing of the simulator is imported before a test asks for a cluster.
"""

import re
from collections.abc import Generator, Iterator
from itertools import count
from typing import Any

import pytest

from kohort.testing.clusters import Cluster, start_cluster

_numbers = count(1)
_NAME_LENGTH_MAX = 50
# The stash key of a test's namespace, which the report needs even if a fixture fails.
_PLACE = pytest.StashKey[tuple[Cluster, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for the size and the speed of the cluster."""
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
    group.addoption(
        "--kohort-operator",
        action="store_true",
        default=None,
        help="let Kohort's own operator run in the cluster",
    )
    group.addoption(
        "--kohort-no-dump",
        action="store_true",
        help="do not add what the namespace held to the report of a test that failed",
    )
    parser.addini("kohort_operator", "let Kohort's own operator run in the cluster", type="bool")
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
    late = _is_on(pytestconfig, "late_events")
    operator = _is_on(pytestconfig, "operator")
    with start_cluster(nodes=nodes, speed=speed, late_events=late, operator=operator) as cluster:
        yield cluster


def _is_on(config: pytest.Config, name: str) -> bool:
    flag = config.getoption(f"--kohort-{name.replace('_', '-')}")
    return bool(config.getini(f"kohort_{name}")) if flag is None else bool(flag)


@pytest.fixture
def kohort_namespace(kohort_cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of an empty namespace, which is deleted after the test.

    The clock then runs again as it did before: a test may leave it paused.
    """
    plain = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower())[:_NAME_LENGTH_MAX].strip("-")
    before = kohort_cluster.clock.read()
    with kohort_cluster.namespace(f"{plain}-{next(_numbers)}") as name:
        request.node.stash[_PLACE] = (kohort_cluster, name)
        yield name
        kohort_cluster.clock.restore(before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, None]:
    """Add the dump of the namespace to the report of a failed test."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    if report.failed and call.when != "teardown" and not item.config.getoption("--kohort-no-dump"):
        cluster, namespace = item.stash.get(_PLACE, (None, ""))
        if cluster is not None:
            report.sections.append((f"kohort namespace {namespace}", _dump(cluster, namespace)))


def _dump(cluster: Cluster, namespace: str) -> str:
    try:
        return cluster.dump(namespace)
    except Exception as error:  # An error of the dump must not hide the failure of the test.
        return f"the namespace could not be read: {error}"
