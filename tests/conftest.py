"""
What all tests share: real clients of a running cluster, and how properties search.

A busy machine must not fail a property, so none has a deadline. `make test` looks at the
same examples each time, here and on a build machine; `make search` looks at new ones, and
what it finds is kept as an explicit example.
"""

import pytest
from hypothesis import settings

from client_tools import Tool, make_tool
from kohort.process.memory import settle_memory
from kohort.testing import Cluster

pytest_plugins = ("run_limits",)

settings.register_profile("search", deadline=None, derandomize=False, print_blob=True)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")


def pytest_collection_finish() -> None:
    """Search for cycles as rarely as the operator does: half of the time went into it."""
    settle_memory()


@pytest.fixture(scope="session")
def tools_home(tmp_path_factory):
    """A home folder for clients."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def kubectl(kohort_cluster: Cluster, tools_home) -> Tool:
    """Real kubectl against the cluster of the test run."""
    return make_tool("kubectl", kohort_cluster.kubeconfig, tools_home)


@pytest.fixture(scope="session")
def helm(kohort_cluster: Cluster, tools_home) -> Tool:
    """Real helm against the cluster of the test run."""
    return make_tool("helm", kohort_cluster.kubeconfig, tools_home)
