"""Commands of a user who may not: the sentence names the verb and the resource that are missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Site

pytestmark = pytest.mark.real
RESOURCE = "leaderworkersets"


@pytest.fixture(scope="module")
def stranger(site: Site) -> Path:
    """The kubeconfig of an account without any role."""
    kubectl = site.plane.kubectl
    kubectl("create", "serviceaccount", "stranger-of-doctor", "-n", "default")
    token = kubectl("create", "token", "stranger-of-doctor", "-n", "default").strip()
    config = json.loads(site.plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = site.plane.folder / "stranger.kubeconfig"
    path.write_text(json.dumps(config))
    return path


def run(kubeconfig: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kohort", *words, "--kubeconfig", str(kubeconfig)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize(
    "words",
    [
        ("get", "lws"),
        ("why", "lws/llama"),
        ("logs", "lws/llama"),
        ("events", "lws/llama"),
        ("connect", "lws/llama"),
        ("rollout", "status", "lws/llama"),
        ("rollout", "restart", "lws/llama"),
    ],
)
def test_a_command_without_permission_names_verb_and_resource(stranger: Path, words):
    told = run(stranger, *words)
    assert told.returncode == 1
    assert f'cannot list resource "{RESOURCE}"' in told.stderr
    assert 'User "system:serviceaccount:default:stranger-of-doctor"' in told.stderr


def test_a_pod_that_may_not_be_read_is_said(stranger: Path):
    told = run(stranger, "get", "pod/llama-0", "--up")
    assert (told.returncode, 'cannot get resource "pods"' in told.stderr) == (1, True)


def test_the_doctor_names_what_is_missing(stranger: Path):
    told = run(stranger, "doctor", "-o", "json")
    assert told.returncode == 4, told.stderr
    found = {r["message"]: r["fix"] for r in json.loads(told.stdout) if r["severity"] == "problem"}
    text = f"you may not get, list, watch {RESOURCE}.leaderworkerset.x-k8s.io in namespace default"
    [fix] = [found[message] for message in found if message.startswith(text)]
    assert f"get, list, watch {RESOURCE}.leaderworkerset.x-k8s.io" in fix
    assert any(message.startswith("you may not get pods/log ") for message in found)


def test_the_doctor_finds_nothing_missing_for_an_administrator(site: Site):
    told = run(site.plane.kubeconfig, "doctor")
    assert "you may read and steer workloads in namespace default" in told.stdout
