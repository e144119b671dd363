"""
An operator written in Go is told the same here as by a real server.

``go_operator.txt`` is what the program printed about a real control plane; the same
test against both, side by side, is in ``tests/real``.
"""

import shutil

import pytest

from go_program import TRANSCRIPT, build_operator, run_operator
from kohort.testing import start_cluster

GO = shutil.which("go")


@pytest.mark.skipif(GO is None, reason="there is no Go on the PATH")
@pytest.mark.timeout(2400)
def test_a_go_operator_sees_what_a_real_server_showed_it():
    assert GO is not None
    program = build_operator(GO)
    with start_cluster(nodes=1) as cluster:
        seen = run_operator(program, cluster.kubeconfig, "go-operator")
    assert seen == TRANSCRIPT.read_text().splitlines()
