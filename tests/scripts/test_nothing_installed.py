"""Script (a) where nothing but uv is installed: no network, no root, and 1,000 members."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from terminal import Terminal, open_terminal

from client_tools import find_tool

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
UVX = Path(sys.executable).with_name("uvx")
KOHORT = f"uvx --from {ROOT} kohort"
SHELL = "bash --norc --noprofile --noediting -i"
# A network that leads nowhere but to this machine, and then a user without any right in it.
NO_NETWORK = "unshare --user --map-root-user --net sh -c 'ip link set lo up && exec $0 $*'"
NO_ROOT = "unshare --user --map-user=1000 --map-group=1000"
MEMBERS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: many}
spec:
  replicas: 125
  leaderWorkerTemplate:
    size: 8
    workerTemplate:
      spec:
        containers: [{name: engine, image: "sglang:0.5.3"}]
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home and a PATH without Kohort; uv has its packages, as after a first ``uvx``."""
    if not UVX.exists():
        pytest.skip("there is no uvx beside the Python of the tests")
    tools = tmp_path / "tools"
    tools.mkdir()
    for program in (UVX, find_tool("kubectl")):
        (tools / program.name).symlink_to(program)
    path = os.pathsep.join((str(tools), "/usr/bin", "/bin", "/usr/sbin", "/sbin"))
    cache = run("uv", "cache", "dir")
    install = ("uvx", "--refresh-package", "kohort", "--from", str(ROOT), "kohort", "--version")
    if cache.returncode or run(*install).returncode:
        pytest.skip(f"uv cannot install Kohort here:\n{run(*install).stderr}")
    home = tmp_path / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "PATH": path,
        "KUBECONFIG": str(home / ".kohort" / "sim" / "kubeconfig"),
        "UV_CACHE_DIR": cache.stdout.strip(),
        "UV_PYTHON": sys.executable,
        "UV_OFFLINE": "1",
    }


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program of uv with the Python of the tests."""
    command = [str(UVX.with_name(program)), *words]
    known = {**os.environ, "UV_PYTHON": sys.executable}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=known)


def start_cluster(user: Terminal, words: str = "") -> None:
    """Start a cluster behind the prompt, and wait until it is ready."""
    user.type(f"{KOHORT} up --port 0 --dashboard-port 0 {words} > up.log 2>&1 &")
    user.type("until grep Ctrl-C up.log; do sleep 0.1; done")


def end_cluster(user: Terminal) -> None:
    """End it as Ctrl-C does, after which nothing of it is left."""
    user.type("kill -INT %1; wait %1; cat up.log")
    assert "sim" not in user.type(f"{KOHORT} clusters"), user


def test_a_first_tree_is_seen_without_a_network_and_without_root(environment: dict[str, str]):
    alone = [*NO_NETWORK.split()[:4], "true"]
    if not shutil.which(alone[0]) or subprocess.run(alone, check=False).returncode:
        pytest.skip("this machine allows no namespaces of users")
    home = Path(environment["HOME"])
    with open_terminal(home, environment, "the user") as user:
        user.type(f"{NO_NETWORK} {NO_ROOT} {SHELL}")
        assert "\n1000\n" in user.type("echo; id -u; grep CapEff /proc/self/status")
        assert "0000000000000000" in user.type("grep CapEff /proc/self/status")
        assert "unreachable" in user.type("bash -c 'echo > /dev/tcp/192.0.2.1/443'")
        start_cluster(user)
        user.type(f"{KOHORT} new lws --example | kubectl apply -f -")
        tree = user.type(f"{KOHORT} get lws/llama")
        assert re.search(r"groups \d/2 ready", tree), user
        assert "deployments" in user.type("kubectl api-resources")
        end_cluster(user)


def test_a_thousand_members_become_ready_on_a_cluster_of_uvx(environment: dict[str, str]):
    home = Path(environment["HOME"])
    (home / "many.yaml").write_text(MEMBERS)
    with open_terminal(home, environment, "the user") as user:
        start_cluster(user, "--nodes 16 --speed 10")
        user.type("kubectl apply -f many.yaml")
        said = user.type("kubectl wait lws/many --for=condition=Available --timeout=5m")
        assert "condition met" in said, user
        assert user.type("kubectl get pods -o name | wc -l").strip() == "1000", user
        end_cluster(user)
