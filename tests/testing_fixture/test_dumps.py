"""The report of a test that fails says what its namespace held."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kohort.apiserver.host.client import Client
from kohort.testing import clusters, dumps, start_cluster, threads

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SECONDS_MAX = 30

TESTS = """
import pytest
from kohort.apiserver.host.client import Client

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


def make_two_versions() -> dict:
    """A definition whose objects cannot be read in v2: no webhook answers the conversion."""
    schema = {"openAPIV3Schema": {"type": "object"}}
    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/convert"},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "conversion": {"strategy": "Webhook", "webhook": webhook},
            "versions": [
                {"name": name, "served": True, "storage": name == "v1", "schema": schema}
                for name in ("v1", "v2")
            ],
        },
    }


def test_a_kind_that_cannot_be_listed_is_named_and_the_others_are_written(kohort_cluster):
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    client = Client(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
    client.create(definitions, make_two_versions())
    with kohort_cluster.namespace("unlisted") as name:
        body = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}}
        client.create(f"/apis/example.com/v1/namespaces/{name}/widgets", body)
        client.create(f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "kept"}})
        told = kohort_cluster.dump(name)
    client.delete(f"{definitions}/widgets.example.com")
    client.close()
    assert "# Widget: cannot be listed: " in told and "name: kept" in told


def test_what_kubectl_applied_does_not_tell_the_values_of_a_secret(kohort_cluster):
    with kohort_cluster.namespace("applied") as name:
        client = Client(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
        notes = {APPLIED: '{"stringData":{"password":"hunter2"}}', "team": "blue"}
        body = {
            "metadata": {"name": "token", "annotations": notes},
            "stringData": {"password": "x"},
        }
        client.create(f"/api/v1/namespaces/{name}/secrets", body)
        told = kohort_cluster.dump(name)
        client.close()
    assert "team: blue" in told and "hunter2" not in told


def test_who_deletes_the_namespace_is_told_of_the_own_error_all_the_same(kohort_cluster):
    with pytest.raises(ValueError, match="mine"), kohort_cluster.namespace("deleted") as name:
        client = Client(kohort_cluster.url, kohort_cluster.token, kohort_cluster.ca)
        client.delete(f"/api/v1/namespaces/{name}")
        clusters._wait_until_gone(client, name)
        client.close()
        raise ValueError("mine")


def test_an_interrupt_while_a_cluster_starts_ends_it(monkeypatch: pytest.MonkeyPatch):
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    def start() -> None:
        with pytest.raises(KeyboardInterrupt), start_cluster(nodes=0):
            pass

    monkeypatch.setattr(threads._ServerThread, "wait_until_ready", interrupt)
    starting = threading.Thread(target=start, daemon=True)
    starting.start()
    starting.join(SECONDS_MAX)
    assert not starting.is_alive()


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
