"""
Every command with what goes wrong for it: the sentence, and the exit code.

The commands are those of the command table; ``command_faults.py`` says for each which fault is
tried how, or why it does not apply. What is not permitted is tried on a real control plane
(``tests/real/test_real_permissions.py``).
"""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_lines import KOHORT, Told
from workload_hand import Hand

from children import started
from command_faults import FAULTS, OPTIONAL, TABLE, Elsewhere, Never, list_lines
from kohort.cli.main import COMMANDS
from kohort.cli.table import Command, Group

RunKohort = Callable[..., Told]
ROOT = Path(__file__).parents[2]
NO_INPUT = ("kubeconfig", "output", "save")
HERE = [line for line in list_lines("no cluster") if line.startswith("sim ")]
HERE.remove("sim topology")
FAR = [line for line in list_lines("no cluster") if line not in HERE]
WAITING = [line for line in list_lines("interrupted") if line in FAR]
READING = [line for line in list_lines("interrupted") if "{file}" in line]


def list_parsers(group: Group = COMMANDS, path: str = "") -> Iterator[tuple[str, Command]]:
    for name, entry in group.entries.items():
        words = f"{path} {name}".strip()
        found = entry.load()
        if isinstance(found, Command):
            yield words, found
        else:
            yield from list_parsers(found, words)


def list_files(command: Command, name: str) -> list[str]:
    """The arguments by which a command is given a file to read, but its kubeconfig."""
    shown = {action.dest: str(action.metavar) for action in command.make_parser(name)._actions}
    return [dest for dest, metavar in shown.items() if "FILE" in metavar and dest not in NO_INPUT]


def write_kubeconfig(path: Path, port: int) -> Path:
    cluster = {"name": "far", "cluster": {"server": f"http://127.0.0.1:{port}"}}
    context = {"name": "far", "context": {"cluster": "far", "user": "me"}}
    body = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [cluster],
        "contexts": [context],
        "users": [{"name": "me", "user": {}}],
        "current-context": "far",
    }
    path.write_text(json.dumps(body))
    return path


def test_no_command_is_left_out():
    assert {name for name, _ in list_parsers()} | OPTIONAL == set(TABLE)


def test_every_fault_of_every_command_is_tried_or_cannot_happen():
    assert {name for name, cells in TABLE.items() if tuple(cells) != FAULTS} == set()
    for cells in TABLE.values():
        for cell in cells.values():
            if isinstance(cell, Elsewhere):
                assert f"def {cell.name}(" in (ROOT / cell.file).read_text()


def test_every_command_that_reads_a_file_is_tried_with_a_broken_one():
    found = {name: command for name, command in list_parsers() if list_files(command, name)}
    assert {"plan", "lint", "convert", "replay", "sim run", "controller"} <= set(found)
    assert [name for name in found if isinstance(TABLE[name]["broken YAML"], Never)] == []


@pytest.mark.parametrize("line", FAR)
def test_without_a_cluster_it_says_which_was_meant(
    run_kohort: RunKohort, unused_port: int, tmp_path: Path, line: str
):
    kubeconfig = write_kubeconfig(tmp_path / "config", unused_port)
    told = run_kohort(*line.split(), "--kubeconfig", str(kubeconfig))
    assert (told.code, told.out) == (1, "")
    assert told.err.startswith('error: context "far": ')
    assert "is the cluster running?" in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("line", HERE)
def test_without_a_cluster_on_this_machine_it_says_how_to_start_one(
    run_kohort: RunKohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    told = run_kohort(*line.split())
    assert (told.code, told.out) == (1, "")
    assert told.err == "error: no cluster is running; start one with 'kohort up'\n"


@pytest.mark.parametrize("line", FAR)
def test_a_kubeconfig_that_is_not_there_is_named(run_kohort: RunKohort, line: str):
    told = run_kohort(*line.split(), "--kubeconfig", "/nowhere/config")
    assert (told.code, told.out) == (1, "")
    assert told.err == "error: the kubeconfig /nowhere/config does not exist\n"


@pytest.mark.parametrize("line", FAR)
def test_a_kubeconfig_that_is_no_yaml_is_named_with_the_line(
    run_kohort: RunKohort, tmp_path: Path, line: str
):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("users:\n- [\n")
    told = run_kohort(*line.split(), "--kubeconfig", str(kubeconfig))
    assert (told.code, told.out) == (1, "")
    sentence = f"the kubeconfig {kubeconfig} is no YAML: did not find expected node content, line 3"
    assert told.err == f"error: {sentence}\n"


@pytest.mark.parametrize("line", list_lines("unknown kind"))
def test_an_unknown_kind_is_answered_with_a_known_one(run_kohort: RunKohort, line: str):
    told = run_kohort(*line.split())
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error: ")
    assert "'lwz' (did you mean 'lws'?)" in told.err


@pytest.mark.slow
@pytest.mark.parametrize("line", list_lines("not found"))
def test_what_is_not_found_is_answered_with_the_nearest(
    kohort: RunKohort, cluster: Path, line: str
):
    if kohort("get", "lws/llama").code:
        Hand(cluster, "llama").create(groups=1)
    told = kohort(*line.split())
    assert (told.code, told.out) == (1, "")
    sentence = "lws/lama does not exist in namespace default (did you mean 'llama'?)"
    assert told.err == f"error: {sentence}\n"


CLUMSY = ("\\n", "<unicode string>")  # words of the parser's own report, which has several lines
BROKEN = {
    "no YAML": "a: [\n",
    "no object": "- 1\n",
    "no kind": "apiVersion: v1\n",
    "a tab": "a:\n\t- b\n",
}


@pytest.mark.parametrize("line", list_lines("broken YAML"))
@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_yaml_is_a_sentence(run_kohort: RunKohort, tmp_path: Path, line: str, text: str):
    file = tmp_path / "broken.yaml"
    file.write_text(text)
    told = run_kohort(*line.format(file=file).split())
    assert told.code == 1
    assert str(file) in told.out + told.err
    assert "Traceback" not in told.err
    assert told.err.count("\n") <= 1
    assert [part for part in CLUMSY if part in told.err] == []


@pytest.mark.parametrize("line", list_lines("broken YAML"))
def test_a_file_that_is_not_there_is_named(run_kohort: RunKohort, line: str):
    told = run_kohort(*line.format(file="/nowhere/x.yaml").split())
    assert (told.code, told.out) == (1, "")
    assert told.err == "error: /nowhere/x.yaml: no such file or directory\n"


def interrupt(process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C: it ends with 130, and a command that stays does not call it an error."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err in ("", "error: interrupted\n")


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """It takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield server


CLAIM = """
import sys
from kohort.cli.state import State
with State("sim").claim():
    State("sim").control_file.write_text(sys.argv[1])
    print("claimed", flush=True)
    sys.stdin.read()
"""


@contextmanager
def claimed_cluster(url: str) -> Iterator[None]:
    """A process of Kohort that claims to run a cluster at that address."""
    control = json.dumps({"url": url, "token": "t", "ca": "", "gpusPerNode": 8})
    command = [sys.executable, "-c", CLAIM, control]
    with started(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        yield


@pytest.mark.slow
@pytest.mark.parametrize("line", WAITING)
def test_an_interrupt_of_a_request_ends_it_with_130(
    tmp_path: Path, silent_server: socket.socket, line: str
):
    kubeconfig = write_kubeconfig(tmp_path / "config", silent_server.getsockname()[1])
    command = [*KOHORT, *line.split(), "--kubeconfig", str(kubeconfig)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        taken, _ = silent_server.accept()
        with taken:
            interrupt(process)


@pytest.mark.slow
@pytest.mark.parametrize("line", HERE)
def test_an_interrupt_of_a_request_to_this_machine_ends_it_with_130(
    tmp_path: Path, silent_server: socket.socket, monkeypatch: pytest.MonkeyPatch, line: str
):
    monkeypatch.setenv("KOHORT_HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with claimed_cluster(f"https://127.0.0.1:{silent_server.getsockname()[1]}"):
        command = [*KOHORT, *line.split()]
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            taken, _ = silent_server.accept()
            with taken:
                interrupt(process)


@pytest.mark.slow
@pytest.mark.parametrize("line", READING)
def test_an_interrupt_of_a_read_ends_it_with_130(tmp_path: Path, line: str):
    """The file is a pipe whose writer says nothing."""
    os.mkfifo(pipe := tmp_path / "pipe")
    command = [*KOHORT, *line.format(file=pipe).split()]
    with (
        started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
        pipe.open("w"),
    ):
        interrupt(process)


@pytest.mark.slow
def test_an_interrupt_of_a_simulation_ends_it_with_130():
    [line] = [each for each in list_lines("interrupted") if each.startswith("sim run")]
    command = [*KOHORT, *line.split()]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("seeds ")
        interrupt(process)
