"""Every command of a user who may not: the sentence names the verb and the resource."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command_faults import list_lines
from conftest import Site

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
