"""Commands act on the cluster that is meant, and ask where that is not clear."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_lines import Cli

pytestmark = pytest.mark.slow
ELSEWHERE = """
current-context: prod
contexts: [{name: prod, context: {cluster: prod, user: prod}}]
clusters: [{name: prod, cluster: {server: "https://prod.example.com"}}]
users: [{name: prod, user: {}}]
"""


def start(cli: Cli, *words: str) -> dict:
    told = cli("up", "--detach", "--port", "0", "--nodes", "2", "-o", "json", *words)
    assert told.code == 0, told.err
    return dict(json.loads(told.out))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Two clusters: a at speed 3, with a data folder, and b at speed 5."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    start(cli, "--name", "a", "--speed", "3", "--data-dir", str(cli.home.parent / "data"))
    start(cli, "--name", "b", "--speed", "5")
    yield cli
    cli("down", "--all")


@pytest.fixture(autouse=True)
def no_kubeconfig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def use(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(path))


@pytest.mark.parametrize("words", [("sim", "clock"), ("sim", "topology"), ("down",)])
def test_where_several_run_and_none_is_meant_nothing_is_done(pair, words):
    told = pair(*words)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error: several clusters run: a, b; name one with --name")


def test_commands_follow_the_context_of_the_kubeconfig(pair, monkeypatch):
    for name, speed in (("a", 3), ("b", 5)):
        use(monkeypatch, pair.home / name / "kubeconfig")
        assert json.loads(pair("sim", "clock", "-o", "json").out)["speed"] == speed
        assert pair("sim", "topology").out.startswith("DOMAIN")


def test_a_name_goes_before_the_context(pair, monkeypatch):
    use(monkeypatch, pair.home / "a" / "kubeconfig")
    assert json.loads(pair("sim", "clock", "--name", "b", "-o", "json").out)["speed"] == 5


def test_the_context_of_another_cluster_means_none_of_ours(pair, monkeypatch, tmp_path):
    (tmp_path / "config").write_text(ELSEWHERE)
    use(monkeypatch, tmp_path / "config")
    assert "several clusters run: a, b" in pair("sim", "clock").err


def test_the_kubeconfig_in_the_home_folder_is_followed_too(pair, tmp_path):
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text((pair.home / "b" / "kubeconfig").read_text())
    assert json.loads(pair("sim", "clock", "-o", "json").out)["speed"] == 5


def test_clusters_are_listed_with_what_tells_them_apart(pair, monkeypatch):
    use(monkeypatch, pair.home / "b" / "kubeconfig")
    first, second = json.loads(pair("clusters", "-o", "json").out)
    data = str(pair.home.parent / "data")
    assert (first["name"], first["nodes"], first["dataDir"]) == ("a", 2, data)
    assert (second["name"], second["nodes"], second["dataDir"]) == ("b", 2, "")
    assert (first["isCurrent"], second["isCurrent"]) == (False, True)
    assert first["url"].endswith(f":{first['port']}") and first["status"] == "running"
    head, *lines = [line.split() for line in pair("clusters").out.splitlines()]
    assert head == ["NAME", "STATUS", "PORT", "AGE", "NODES", "DATA"]
    assert lines[0][:3] == ["a", "running", str(first["port"])] and lines[0][-1] == data
    assert lines[1][:3] == ["*", "b", "running"] and lines[1][-2:] == ["in", "memory"]


def test_nodes_are_counted_as_they_are_now(pair):
    pair("sim", "node", "add", "--name", "b")
    listed = json.loads(pair("clusters", "-o", "json").out)
    assert [cluster["nodes"] for cluster in listed] == [2, 3]


def test_the_only_cluster_that_runs_is_meant(cli):
    start(cli, "--name", "ci")
    assert cli("sim", "clock").code == 0
    assert cli("down").out == "ci has ended\n"
    assert cli("down").out == "no cluster is running\n"
    told = cli("sim", "clock")
    assert (told.code, told.err) == (
        1,
        "error: no cluster is running; start one with 'kohort up'\n",
    )


def test_the_kubeconfig_of_a_cluster_that_has_ended_ends_no_other_one(cli, monkeypatch):
    for name in ("ci", "other"):
        start(cli, "--name", name)
    use(monkeypatch, cli.home / "ci" / "kubeconfig")
    assert cli("down").out == "ci has ended\n"
    assert cli("down").out == "ci is not running; these are: other\n"
    assert cli("down", "other").out == "other has ended\n"


def test_clusters_are_ended_by_name_or_all_at_once(cli):
    for name in ("a", "b", "c", "d"):
        start(cli, "--name", name)
    assert cli("down", "a", "b").out == "a has ended\nb has ended\n"
    assert cli("down", "--all").out == "c has ended\nd has ended\n"
    assert cli("down", "--all").out == "no cluster is running\n"
    assert cli("down", "--all", "a").code == 2


@pytest.mark.parametrize("words", [("clusters",), ("down", "--all"), ("down", "ci"), ("down",)])
def test_what_a_killed_cluster_left_behind_is_told_and_removed(cli, words):
    ready = start(cli, "--name", "ci")
    os.kill(ready["pid"], signal.SIGKILL)
    wait_until_unlocked(cli.home / "ci" / "pid")
    told = cli(*words)
    assert told.code == 0
    assert "stale files" in told.out + told.err
    left = {path.name for path in (cli.home / "ci").iterdir()}
    assert left == {"log"}
    again = cli(*words)
    assert "stale" not in again.out + again.err


def wait_until_unlocked(path: Path) -> None:
    import fcntl

    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)


def test_the_kubeconfig_of_a_killed_cluster_that_is_kept_stays(cli, tmp_path):
    ready = start(cli, "--data-dir", str(tmp_path / "data"))
    os.kill(ready["pid"], signal.SIGKILL)
    wait_until_unlocked(cli.home / "sim" / "pid")
    assert "removed the stale files of sim" in cli("clusters").err
    assert {path.name for path in (cli.home / "sim").iterdir()} == {"log", "kubeconfig"}


def test_nodes_that_a_kept_cluster_does_not_get_are_told(cli, tmp_path):
    data = ("--data-dir", str(tmp_path / "data"))
    assert start(cli, *data)["notes"] == []
    cli("down")
    more = ("--racks", "1", "--gpus-per-node", "4")
    notes = start(cli, *data, "--nodes", "7", *more)["notes"]
    place = f"the cluster kept in {tmp_path / 'data'} has"
    assert notes == [
        f"--gpus-per-node 4 is ignored: {place} 8",
        f"--nodes 7 is ignored: {place} 2",
        f"--racks 1 is ignored: {place} 2",
    ]
    cli("down")
    told = cli("up", "--detach", "--port", "0", *data, "--nodes", "7")
    assert told.err == f"note: --nodes 7 is ignored: {place} 2\n"
    cli("down")
    told = cli("up", "--detach", "--port", "0", *data)
    assert told.err == ""
    cli("down")
