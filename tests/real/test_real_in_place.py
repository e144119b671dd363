"""Pods of the real control plane: gates that others set, and another image in a running pod."""

import pytest

from conftest import Site
from in_place_scenarios import check_gates, check_image

pytestmark = pytest.mark.real


def test_a_gate_is_true_only_when_some_client_has_set_it(site: Site):
    check_gates(site.plane.kubectl)


def test_another_image_restarts_its_container_in_the_same_pod(site: Site):
    check_image(site.plane.kubectl)
