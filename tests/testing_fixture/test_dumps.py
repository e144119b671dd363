"""The report of a test that fails says what its namespace held."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kohort.simulator.hosting.client import Client
from kohort.testing import dumps, start_cluster

TESTS = """
import pytest
from kohort.simulator.hosting.client import Client

POD = {"metadata": {"name": "one"}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}

@pytest.fixture
def pod(kohort_cluster, kohort_namespace):
    client = Client(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
    client.create(f"/api/v1/namespaces/{kohort_namespace}/pods", POD)
    kohort_cluster.clock.step("1m")
    client.close()

@pytest.fixture
def broken(pod):
    raise RuntimeError("no")

def test_fails(pod): assert False

def test_has_a_bad_fixture(broken): pass

def test_passes(pod): pass

def test_has_no_cluster(): assert False

def test_pauses(kohort_cluster, kohort_namespace):
    kohort_cluster.clock.pause()
    kohort_cluster.clock.set_speed(3)

def test_comes_after(kohort_cluster, kohort_namespace):
    state = kohort_cluster.clock.read()
    assert (state.is_paused, state.speed) == (False, 100)
"""


def run(folder: Path, *words: str) -> str:
    """The report of another project's tests."""
    (folder / "test_theirs.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", "test_theirs.py"]
    done = subprocess.run(
        [*command, "--kohort-nodes=1", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    return run(tmp_path_factory.mktemp("theirs"))


def test_the_report_of_a_failure_holds_events_objects_and_logs(report: str):
    assert re.search(r"-+ kohort namespace test-fails-1 -+", report)
    assert re.search(r"Normal   Scheduled +Pod/one +Successfully assigned test-fails-1/one", report)
    assert "kind: Pod" in report and "phase: Running" in report
    assert "# log of one, container main" in report
    assert "container main started from image a:1" in report
    assert "managedFields" not in report and "kube-root-ca.crt" not in report


def test_only_tests_that_failed_have_it_and_those_whose_fixtures_did(report: str):
    dumped = re.findall(r"-+ kohort namespace (\S+) -+", report)
    assert sorted(set(dumped)) == ["test-fails-1", "test-has-a-bad-fixture-2"]


def test_a_test_that_pauses_the_clock_does_not_stop_the_next_one(report: str):
    assert "2 failed, 3 passed, 1 error" in report


def test_a_flag_leaves_dumps_out(tmp_path: Path):
    told = run(tmp_path, "--kohort-no-dump", "-k", "test_fails")
    assert "1 failed" in told and "kohort namespace" not in told


def test_an_exception_in_a_block_carries_the_dump(kohort_cluster):
    with pytest.raises(RuntimeError) as caught, kohort_cluster.namespace("noted"):
        client = Client(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
        body = {"metadata": {"name": "token"}, "stringData": {"password": "hunter2"}}
        client.create("/api/v1/namespaces/noted/secrets", body)
        client.close()
        raise RuntimeError("no")
    (note,) = caught.value.__notes__
    assert note.startswith("the namespace noted held then:\n")
    assert "name: token" in note and "password: (left out)" in note
    assert "hunter2" not in note and "aHVudGVyMg" not in note


def test_a_dump_has_an_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dumps, "OBJECTS_MAX", 2)
    monkeypatch.setattr(dumps, "CHARACTERS_MAX", 600)
    with start_cluster(nodes=1) as cluster, cluster.namespace("full") as name:
        client = Client(cluster.url, cluster.token, cluster.ca)
        for number in range(5):
            body = {"metadata": {"name": f"map-{number}"}, "data": {"text": "x" * 300}}
            client.create(f"/api/v1/namespaces/{name}/configmaps", body)
        told = cluster.dump(name)
        client.close()
    assert "map-1" in told and "map-2" not in told
    assert re.search(r"# cut: there were \d+ characters\n$", told)
