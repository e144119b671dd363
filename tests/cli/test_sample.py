"""A cluster with a sample shows a workload that becomes ready."""

import os
import signal
import subprocess
import sys

import pytest

from children import started

LINES_MAX = 20


@pytest.mark.slow
def test_the_sample_becomes_ready_before_the_eyes_of_its_user(tmp_path):
    words = ["up", "--sample", "--name", "shown", "--port", "0", "--speed", "50"]
    command = [sys.executable, "-m", "kohort", *words]
    environment = {**os.environ, "KOHORT_HOME": str(tmp_path)}
    lines: list[str] = []
    with started(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            if "2 of 2 groups ready" in line or len(lines) > LINES_MAX:
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert lines[0].startswith("control plane ready at https://127.0.0.1:")
    assert lines[-1].split("   ")[-1].strip() == "see them with kubectl get pods"


def test_a_sample_without_an_operator_is_a_mistake(tmp_path):
    words = ["up", "--sample", "--no-operator"]
    told = subprocess.run(
        [sys.executable, "-m", "kohort", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KOHORT_HOME": str(tmp_path)},
    )
    assert told.returncode == 2
    assert "--sample needs the operator" in told.stderr
