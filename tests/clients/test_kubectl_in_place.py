"""kubectl and pods that are updated in place, with the same claims as on a real control plane."""

import pytest

from in_place_scenarios import Kubectl, check_gates, check_image

pytestmark = pytest.mark.clients


@pytest.fixture
def said(k) -> Kubectl:
    """What kubectl says in the namespace of the test."""

    def run(*words: str, feed: str | None = None) -> str:
        return str(k(*words, stdin=feed).stdout)

    return run


def test_ready_follows_the_gates_that_clients_set(said):
    check_gates(said)


def test_another_image_starts_a_container_again_in_the_same_pod(said):
    check_image(said)
