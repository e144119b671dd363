"""Every command of a user who may not: the sentence names the verb and the resource."""

import json
import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from children import started
from command_faults import list_lines
from conftest import Site
from kohort.journal.entries import JOURNAL_PATH

pytestmark = pytest.mark.real
STRANGER = "stranger-of-commands"
SENTENCE = re.compile(
    rf'User "system:serviceaccount:default:{STRANGER}" cannot (get|list) resource "[a-z/]+" in API '
    r'group "[a-z0-9.-]*"'
)


@pytest.fixture(scope="module")
def stranger(site: Site) -> Path:
    """The kubeconfig of an account without any role."""
    kubectl = site.plane.kubectl
    kubectl("create", "serviceaccount", STRANGER, "-n", "default")
    token = kubectl("create", "token", STRANGER, "-n", "default").strip()
    config = json.loads(site.plane.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    path = site.plane.folder / f"{STRANGER}.kubeconfig"
    path.write_text(json.dumps(config))
    return path


@pytest.mark.parametrize("line", list_lines("no permission"))
def test_a_command_without_permission_names_verb_and_resource(stranger: Path, line: str):
    command = [sys.executable, "-m", "kohort", *line.split(), "--kubeconfig", str(stranger)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (told.returncode, told.stdout) == (1, "")
    assert SENTENCE.search(told.stderr), told.stderr
    assert "Traceback" not in told.stderr


def start(stranger: Path, *words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A command that stays, with both its outputs in one pipe."""
    command = [sys.executable, "-m", "kohort", *words, "--kubeconfig", str(stranger)]
    return started(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_the_journal_of_an_operator_is_refused_by_its_path(stranger: Path):
    command = [sys.executable, "-m", "kohort", "record", "-o", "-", "--kubeconfig", str(stranger)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (told.returncode, told.stdout) == (1, "")
    assert f'cannot get path "{JOURNAL_PATH}"' in told.stderr
    assert "Traceback" not in told.stderr


def test_an_operator_without_permission_logs_verb_and_resource(stranger: Path):
    words = ("--metrics-bind-address", "0", "--health-probe-bind-address", "0")
    with start(stranger, "controller", *words) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if SENTENCE.search(line.replace("\\", "")):
                break
        else:
            raise AssertionError(f"it ended with {process.wait(timeout=60)}:\n{''.join(lines)}")
        assert "Traceback" not in "".join(lines)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
