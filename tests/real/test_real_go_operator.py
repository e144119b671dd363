"""An operator written in Go runs unchanged against both servers, and is told the same."""

from pathlib import Path

import pytest

from control_plane import real_plane
from go_program import TRANSCRIPT, build_operator, find_any_go, run_operator
from kohort.testing import start_cluster

pytestmark = pytest.mark.real


@pytest.mark.timeout(2400)
def test_a_go_operator_prints_the_same_about_both_servers(tmp_path: Path):
    program = build_operator(find_any_go())
    with real_plane(tmp_path / "plane", "--nodes", "1") as plane:
        real = run_operator(program, plane.kubeconfig, "go-operator")
    with start_cluster(nodes=1) as cluster:
        ours = run_operator(program, cluster.kubeconfig, "go-operator")
    assert ours == real
    assert real == TRANSCRIPT.read_text().splitlines()
