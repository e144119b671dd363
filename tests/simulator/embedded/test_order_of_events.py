"""Watchers hear of a write before its writer is answered, unless lateness is asked for."""

import json
import subprocess
import sys
from contextlib import closing

import pytest
from watch_order import WatchedWriter

from kohort.testing import start_cluster

CREATES = 60


def test_events_reach_watchers_before_the_answer_reaches_the_writer():
    with start_cluster(nodes=1) as cluster:
        args = (cluster.url, cluster.token, cluster.ca)
        with closing(WatchedWriter(*args)) as writer:
            assert writer.count_late(CREATES) == 0


def test_late_events_are_a_fault_that_can_be_asked_for():
    with start_cluster(nodes=1, late_events=True) as cluster:
        args = (cluster.url, cluster.token, cluster.ca)
        with closing(WatchedWriter(*args)) as writer:
            assert writer.count_late(CREATES) > CREATES // 2


@pytest.mark.parametrize("flags", [["--data-dir", "data"], ["--late-events"]])
def test_a_cluster_of_the_command_line_keeps_the_same_order(tmp_path, monkeypatch, flags):
    monkeypatch.setenv("KOHORT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    run = [sys.executable, "-m", "kohort"]
    up = [*run, "up", "--detach", "--port=0", "--nodes=1", "--no-operator", *flags]
    subprocess.run(up, check=True, capture_output=True)
    try:
        control = json.loads((tmp_path / "home" / "sim" / "control.json").read_text())
        args = (control["url"], control["token"], control["ca"])
        with closing(WatchedWriter(*args)) as writer:
            assert (writer.count_late(CREATES) > 0) == ("--late-events" in flags)
    finally:
        subprocess.run([*run, "down"], check=True, capture_output=True)


def test_a_cluster_in_a_test_names_the_options_that_it_knows():
    with pytest.raises(TypeError, match=r"knows no later_events; its options are .*late_events"):
        start_cluster(later_events=True).__enter__()  # type: ignore[call-arg]
