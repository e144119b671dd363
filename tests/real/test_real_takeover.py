"""A takeover from all four upstream controllers and back, on a real control plane."""

from pathlib import Path

import pytest
from takeover_plane import fail_at_each_step, go_there_and_back

from upstream_controllers import OTHERS

pytestmark = pytest.mark.real


def test_all_four_are_taken_over_and_given_back_without_a_lost_pod(tmp_path: Path):
    go_there_and_back(tmp_path, tuple(OTHERS))


def test_commands_that_are_killed_at_each_step_go_on_and_lose_no_pod(tmp_path: Path):
    fail_at_each_step(tmp_path, tuple(OTHERS))
