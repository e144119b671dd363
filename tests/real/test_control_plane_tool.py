"""What the tool says where it cannot work, and where it finds things."""

import os
import subprocess
import sys

import pytest

from control_plane import ROOT

FAKE_GO = """#!/bin/sh
case "$1" in
version) ;;
env) echo "$GOPROXY" ;;
*) echo "no route with $GOFLAGS"; exit 1 ;;
esac
"""


def run_bare(tmp_path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tool where there is no Go and nothing can be installed."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("KOHORT_")}
    bare = {"PATH": "/nowhere", "PIP_NO_INDEX": "1", "KOHORT_CACHE": str(tmp_path)}
    command = [sys.executable, "-m", "tools.controlplane", *words]
    environment = {**known, **bare, **variables}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_without_go_one_sentence_says_how_to_get_it(tmp_path):
    done = run_bare(tmp_path, "build")
    assert done.returncode == 3
    assert "install Go 1.26 from https://go.dev/dl" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_modules_that_cannot_be_fetched_are_told_in_one_sentence(tmp_path):
    go = tmp_path / "go"
    go.write_text(FAKE_GO)
    go.chmod(0o755)
    settings = {"GOPROXY": "https://mirror", "GOFLAGS": "-mod=mod"}  # which stay as they are
    done = run_bare(tmp_path, "build", PATH=f"{tmp_path}:/usr/bin:/bin", **settings)
    assert done.returncode == 1
    assert done.stderr == (
        "the Go modules of etcd could not be fetched (GOPROXY=https://mirror; is it reachable "
        "from here?): no route with -mod=mod\n"
    )


def test_binaries_that_are_there_are_not_built_again(tmp_path):
    for name in ("etcd", "kwok", "kubectl"):
        (tmp_path / name).touch()
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        (tmp_path / name).touch()
    done = run_bare(tmp_path, "build", KOHORT_CONTROLPLANE_BIN=str(tmp_path))
    assert done.returncode == 0
    assert done.stdout == f"the control plane is built: {tmp_path}\n"


def test_stopping_what_does_not_run_is_fine(tmp_path):
    assert run_bare(tmp_path, "stop", "--dir", str(tmp_path / "none"), "--wipe").returncode == 0


@pytest.mark.parametrize(
    ("words", "state", "expected"),
    [
        pytest.param("", "R", True, id="not loaded yet"),
        pytest.param("", "Z", False, id="ended"),
        pytest.param("/bin/etcd\0--flag\0", "S", True, id="loaded"),
        pytest.param("/bin/other\0etcd\0", "S", False, id="a stranger with the same id"),
    ],
)
def test_a_process_that_the_system_has_not_loaded_yet_counts_as_running(
    tmp_path, words, state, expected
):
    """A server was started a second time beside the first, which kept the port for ever."""
    own = os.getpid()
    place = tmp_path / str(own)
    place.mkdir()
    (tmp_path / "self").mkdir()
    (place / "cmdline").write_text(words)
    (place / "stat").write_text(f"{own} (a (b) c) {state} 1 1")
    asked = (
        "from pathlib import Path; from tools.controlplane.processes import is_running; "
        f"print(is_running({own}, 'etcd', Path({str(tmp_path)!r})))"
    )
    command = [sys.executable, "-c", asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{expected}\n"
