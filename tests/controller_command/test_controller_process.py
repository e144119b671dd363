"""The operator as a process of its own, beside a cluster that is another process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from client_tools import make_tool

pytestmark = [pytest.mark.clients, pytest.mark.slow]

KOHORT = (sys.executable, "-m", "kohort")
EXAMPLE = Path(__file__).parents[2] / "examples" / "lws.yaml"
BAD = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: bad}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 5
    subGroupPolicy: {subGroupSize: 3}
    workerTemplate: {spec: {containers: [{name: c, image: i}]}}
"""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory):
    """A cluster without an operator, in a process of its own."""
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "KOHORT_HOME": str(home)}
    path = home / "own.kubeconfig"
    words = ("up", "--no-operator", "--detach", "--port=0", "--speed=50", f"--kubeconfig={path}")
    subprocess.run([*KOHORT, *words], env=environment, check=True, stdout=subprocess.DEVNULL)
    yield path
    subprocess.run([*KOHORT, "down"], env=environment, check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def tool(kubeconfig, tools_home):
    """Real kubectl against that cluster."""
    return make_tool("kubectl", kubeconfig, tools_home)


class Controller:
    """A running ``kohort controller``."""

    def __init__(self, kubeconfig: Path, log: Path, *words: str) -> None:
        self.log = log
        with socket.create_server(("127.0.0.1", 0)) as probe:
            url = f"https://127.0.0.1:{probe.getsockname()[1]}"
        command = [*KOHORT, "controller", f"--kubeconfig={kubeconfig}", f"--webhook-url={url}"]
        command += ["--metrics-bind-address=0", "--health-probe-bind-address=0", *words]
        with log.open("w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out)

    def wait_for(self, text: str) -> None:
        """Return when it has logged the text."""
        end = time.monotonic() + 30
        while text not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(10)


@pytest.fixture
def start(kubeconfig, tmp_path):
    """Starts controllers, and ends those that are left."""
    started: list[Controller] = []

    def begin(*words: str) -> Controller:
        started.append(Controller(kubeconfig, tmp_path / f"log{len(started)}", *words))
        return started[-1]

    yield begin
    for controller in started:
        if controller.process.poll() is None:
            controller.process.kill()
            controller.process.wait()


def test_one_command_makes_a_workload_of_a_bare_cluster_ready(start, tool):
    controller = start("--install")
    controller.wait_for("webhooks lws-validating-webhook-configuration")
    tool("apply", "-f", EXAMPLE)
    tool("wait", "--for=condition=Available", "lws/llama", "--timeout=30s")
    refused = tool("apply", "-f", "-", stdin=BAD, check=False)
    assert 'Forbidden): error when creating "STDIN": admission webhook' in refused.stderr
    assert "size or size - 1 must be divisible by subGroupSize" in refused.stderr
    assert controller.end() == 0
    assert "message=plan" in controller.log.read_text()
    held = tool("get", "lease", "-n=lws-system", "-o=jsonpath={.items[*].spec.holderIdentity}")
    assert held.stdout == ""


def test_another_takes_over_what_is_at_rest_without_a_write(start, tool):
    first = start("--install")
    first.wait_for("webhooks lws-validating-webhook-configuration")
    tool("apply", "-f", EXAMPLE)
    tool("wait", "--for=condition=Available", "lws/llama", "--timeout=30s")
    assert first.end(signal.SIGINT) == 0
    before = tool("get", "lws,sts,pods,svc", "-o=name", "--sort-by=.metadata.name").stdout
    second = start("--install", "--log-format=json")
    second.wait_for("webhooks lws-validating-webhook-configuration: updated")
    tool("scale", "lws/llama", "--replicas=1")
    tool("wait", "--for=delete", "pod/llama-1", "--timeout=30s")
    assert second.end() == 0
    plans = [line for line in second.log.read_text().splitlines() if '"plan"' in line]
    assert '"patch": 1' in plans[0]
    assert "pod/llama-1-3" in before


def test_a_cluster_that_does_not_answer_is_told_and_waited_for(start, tmp_path, kubeconfig):
    nowhere = tmp_path / "nowhere"
    lines = kubeconfig.read_text().splitlines()
    gone = ["    server: https://127.0.0.1:1" if "server:" in line else line for line in lines]
    nowhere.write_text("\n".join(gone))
    controller = start(f"--kubeconfig={nowhere}")
    controller.wait_for("cannot reach for the lease")
    assert controller.end() == 0
