"""No test waits for ever, and none leaves a process behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from children import RUN_VARIABLE, end_children, started

HANGING = """
import asyncio, subprocess, sys
from children import started

async def test_a_task_waits_for_ever():
    await asyncio.Event().wait()

def test_a_child_says_nothing():
    with started(["sleep", "600"], stdout=subprocess.PIPE) as child:
        print("child", child.pid)
        child.stdout.readline()

def test_a_child_is_forgotten():
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    print("child", child.pid)
    assert False
"""


def run(tmp_path: Path, *flags: str) -> str:
    """What pytest says about tests that hang, with a limit of one second each."""
    file = tmp_path / "test_hanging.py"
    file.write_text(HANGING)
    words = (sys.executable, "-m", "pytest", "-p", "run_limits", "-c", os.devnull, "-rA", *flags)
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": tests, "KOHORT_TEST_SECONDS": "1"}
    options = ("--asyncio-mode=auto", "-p", "no:cacheprovider", str(file))
    done = subprocess.run(
        [*words, *options], env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def is_running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("-n", "2")], ids=["alone", "in workers"])
def test_tests_that_hang_fail_and_their_children_are_ended(tmp_path, flags):
    told = run(tmp_path, *flags)
    assert "3 failed" in told, told
    assert told.count("Failed: Timeout (>1.0s) from pytest-timeout") >= 2, told
    children = {int(line.split()[1]) for line in told.splitlines() if line.startswith("child ")}
    assert len(children) == 2
    # The kernel ends a killed process in its own time.
    end = time.monotonic() + 30
    while left := [pid for pid in children if is_running(pid)]:
        assert time.monotonic() < end, f"{left} run on"
        os.sched_yield()


def test_what_a_run_left_in_the_background_is_ended():
    environment = {**os.environ, RUN_VARIABLE: "of this test"}
    with started(["sleep", "600"], env=environment, start_new_session=True) as child:
        assert end_children("of this test") == [child.pid]
        assert child.wait(30) != 0
