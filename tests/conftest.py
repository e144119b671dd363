"""Fixtures that several folders of tests share: real clients of a running cluster."""

import pytest

from client_tools import Tool, make_tool
from kohort.testing import Cluster


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
