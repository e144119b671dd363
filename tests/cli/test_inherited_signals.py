"""Commands that stay end at SIGINT, also where they were started with SIGINT ignored."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from command_lines import KOHORT, Cli

from children import started
from kohort.apis.leaderworkerset.labels import KIND

pytestmark = pytest.mark.slow
# A shell without job control starts what goes to the background just so.
IGNORING = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
WAITING = {
    "apiVersion": KIND.api_version,
    "kind": KIND.name,
    "metadata": {"name": "waiting"},
    "spec": {
        "replicas": 1,
        "leaderWorkerTemplate": {
            "size": 1,
            "workerTemplate": {"spec": {"containers": [{"name": "engine", "image": "engine:1"}]}},
        },
    },
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A cluster whose clock stands still, so that no pod becomes ready."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    told = cli("up", "--port", "0", "--speed", "50", "--detach")
    assert told.code == 0, told.err
    assert cli("sim", "clock", "pause").code == 0
    yield cli
    cli("down")


@pytest.fixture(scope="module")
def kubeconfig(home: Cli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from client_tools import make_tool

    path = home.home / "sim" / "kubeconfig"
    kubectl = make_tool("kubectl", path, tmp_path_factory.mktemp("tools"))
    kubectl("apply", "-f", "-", stdin=json.dumps(WAITING))
    return path


def start(
    words: Sequence[str], home: Path, command: Sequence[str] = IGNORING
) -> AbstractContextManager[subprocess.Popen[str]]:
    environment = {**os.environ, "KOHORT_HOME": str(home)}
    pipe, joined = subprocess.PIPE, subprocess.STDOUT
    return started([*command, *KOHORT, *words], env=environment, stdout=pipe, stderr=joined)


def interrupt_after(process: subprocess.Popen[str], text: str) -> int:
    """Its exit code, when it is interrupted once it has said the text."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if text in line:
            process.send_signal(signal.SIGINT)
            return process.wait(30)
    raise AssertionError("".join(said))


@pytest.mark.parametrize("words", [("get", "-w"), ("rollout", "status", "lws/waiting")])
def test_a_command_that_follows_a_workload_can_be_interrupted(words, home, kubeconfig, tmp_path):
    with start((*words, "--kubeconfig", str(kubeconfig)), tmp_path) as process:
        assert interrupt_after(process, "waiting") == 130
        assert process.stdout is not None
        assert "error" not in process.stdout.read()


def test_a_cluster_in_the_foreground_can_be_interrupted(tmp_path):
    with start(("up", "--port", "0", "--nodes", "0"), tmp_path) as process:
        assert interrupt_after(process, "Ctrl-C") == 0


def test_an_operator_can_be_interrupted(kubeconfig, tmp_path):
    words = ("controller", f"--kubeconfig={kubeconfig}", "--webhook-url=https://127.0.0.1:1")
    off = ("--webhook-port=0", "--metrics-bind-address=0", "--health-probe-bind-address=0")
    with start((*words, *off), tmp_path) as process:
        assert interrupt_after(process, "lease") == 0


ENDING = """
import asyncio
from kohort.cli.processes.signals import catch_signals

async def main():
    stop = catch_signals()
    print("ready", flush=True)
    await stop.wait()
    print("ending", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_second_request_ends_a_process_whose_orderly_end_hangs():
    pipe, joined = subprocess.PIPE, subprocess.STDOUT
    with started([sys.executable, "-c", ENDING], stdout=pipe, stderr=joined) as process:
        assert process.stdout is not None
        for word, number in (("ready", signal.SIGTERM), ("ending", signal.SIGINT)):
            assert process.stdout.readline() == f"{word}\n"
            process.send_signal(number)
        assert process.wait(timeout=30) == -signal.SIGINT
        assert process.stdout.read() == ""
