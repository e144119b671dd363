"""The command that serves the page, and the page of a cluster in the same process."""

import json
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from command_lines import KOHORT, Cli, Told

from children import started

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        assert answer.headers["Set-Cookie"]
        return answer.read().decode()


def test_the_page_is_served_until_it_is_interrupted(cluster: Path):
    command = [*KOHORT, "dashboard", "--port", "0", "-o", "json", "--kubeconfig", str(cluster)]
    with started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert "<title>Kohort</title>" in fetch(told["url"])
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0


def test_without_a_cluster_no_page_is_served(run_kohort: RunKohort, tmp_path: Path):
    told = run_kohort("dashboard", "--kubeconfig", str(tmp_path / "none"))
    assert (told.code, told.out) == (1, "")
    assert "error:" in told.err


def test_a_taken_port_is_named(run_kohort: RunKohort, cluster: Path, taken_port: int):
    told = run_kohort("dashboard", "--port", str(taken_port), "--kubeconfig", str(cluster))
    assert (told.code, told.out) == (1, "")
    assert f"cannot listen on 127.0.0.1:{taken_port}" in told.err


def test_a_prefix_must_be_a_path(run_kohort: RunKohort, cluster: Path):
    told = run_kohort("dashboard", "--prefix", "kohort", "--kubeconfig", str(cluster))
    assert told.code == 2
    assert "--prefix is a path such as /kohort" in told.err


def test_a_cluster_without_the_page_names_none(cli: Cli):
    with cli.foreground("--nodes", "0", "--no-dashboard", "-o", "json") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["dashboard"] == ""


def test_a_cluster_in_the_background_serves_its_page(cli: Cli):
    made = json.loads(cli("up", "--nodes", "0", "--port", "0", "--detach", "-o", "json").out)
    try:
        assert "<title>Kohort</title>" in fetch(made["dashboard"])
    finally:
        cli("down")
