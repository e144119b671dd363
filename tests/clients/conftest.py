"""Real clients against one running cluster; each test has a namespace of its own."""

from collections.abc import Callable, Iterator
from subprocess import CompletedProcess

import pytest
from client_manifests import WIDGETS, write_yaml

from client_tools import Tool

Kubectl = Callable[..., CompletedProcess[str]]


@pytest.fixture
def k(kubectl: Tool, kohort_namespace: str) -> Kubectl:
    """kubectl in the namespace of the test."""

    def run(*words: str, **options: object) -> CompletedProcess[str]:
        return kubectl("-n", kohort_namespace, *words, **options)

    return run


@pytest.fixture
def apply(k: Kubectl) -> Callable[..., CompletedProcess[str]]:
    """Apply objects in the namespace of the test; flags follow them."""

    def run(*objects: dict, flags: tuple[str, ...] = (), **options: object):
        return k("apply", "-f", "-", *flags, stdin=write_yaml(*objects), **options)

    return run


@pytest.fixture
def read(k: Kubectl) -> Callable[..., str]:
    """One field of an object, by its JSONPath."""

    def run(what: str, path: str) -> str:
        return k("get", what, f"-o=jsonpath={path}").stdout

    return run


@pytest.fixture(scope="session")
def widgets(kubectl: Tool) -> Iterator[None]:
    """A custom kind that is served as long as the tests run."""
    kubectl("apply", "-f", "-", stdin=write_yaml(WIDGETS))
    kubectl("wait", "--for=condition=Established", "crd/widgets.clients.kohort.dev")
    yield
    kubectl("delete", "crd", "widgets.clients.kohort.dev")
