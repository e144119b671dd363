"""Every command of a user who may not: the sentence names the verb and the resource."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from children import started
from command_faults import list_lines
from conftest import Site
from kohort.journal.entries import JOURNAL_PATH

pytestmark = pytest.mark.real
STRANGER = "stranger-of-commands"
SENTENCE = re.compile(
    rf'User "system:serviceaccount:default:{STRANGER}" cannot (get|list|watch) resource '
    r'"(?P<resource>[a-z/]+)" in API group "[a-z0-9.-]*"'
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


def read_page(url: str) -> dict[str, Any]:
    """What a page that was just opened is told of the cluster, when its lists have ended."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(url, timeout=60).close()
    address = f"{url.partition('?')[0]}api/v1"
    end = time.monotonic() + 180
    while time.monotonic() < end:
        with opener.open(f"{address}/cluster", timeout=60) as answer:
            told = json.load(answer)
        if told["reading"]["isComplete"]:
            with opener.open(f"{address}/workloads", timeout=60) as answer:
                return {**told, "rows": json.load(answer)}
        time.sleep(0.2)
    raise AssertionError(f"the lists do not end: {told}")


def test_a_page_without_permission_names_verb_and_resource(stranger: Path):
    with start(stranger, "dashboard", "--port", "0", "-o", "json") as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        told = read_page(url)
        assert told["rows"] == []
        # Workloads come first: the user opened the page to see them.
        resources = [find_refused(text) for text in told["problems"]]
        assert resources[0] == "leaderworkersets"
        assert {"modelservings", "rolebasedgroups", "inferenceservices", "pods"} <= {*resources}
        process.send_signal(signal.SIGINT)
        # The terminal says it once, however many kinds are refused.
        (warning,) = process.stdout.read().splitlines()
        assert process.wait(timeout=60) == 0
        assert warning.startswith("warning: the page cannot show everything: ")
        assert find_refused(warning) == "leaderworkersets"


def find_refused(text: str) -> str:
    """The resource that a sentence about a missing permission names."""
    found = SENTENCE.search(text)
    assert found, text
    return found["resource"]
