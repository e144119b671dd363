"""A cluster from its start to its end: ready lines, files, signals, refusals."""

import json
import os
import re
import signal
import socket
import stat

import pytest

READY = re.compile(
    r"control plane ready at https://127\.0\.0\.1:\d+   3 nodes, 12 GPUs, 2 racks \(simulated\)\n"
)
SMALL = ("--nodes", "3", "--gpus-per-node", "4")


def names(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_cluster_in_the_foreground_says_where_it_is_and_leaves_nothing(cli):
    with cli.foreground(*SMALL) as process:
        lines = [process.stdout.readline() for _ in range(5)]
        assert READY.fullmatch(lines[0])
        assert f"export KUBECONFIG={cli.home}/sim/kubeconfig" in lines[1]
        assert re.fullmatch(r"  dashboard   http://127\.0\.0\.1:\d+/\?token=[\w-]+\n", lines[2])
        assert lines[4].split() == ["stop", "Ctrl-C"]
        assert names(cli.home / "sim") == ["control.json", "kubeconfig", "pid"]
    assert process.returncode == 0
    assert names(cli.home) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_requests_to_end_are_obeyed_as_well(cli, number):
    with cli.foreground("--nodes", "0") as process:
        assert "0 nodes, 0 GPUs, 0 racks" in process.stdout.readline()
        process.send_signal(number)
        assert process.wait(timeout=30) == 0
    assert names(cli.home) == []


def test_a_detached_cluster_runs_until_it_is_taken_down(cli):
    told = cli("up", "--detach", "--port", "0", *SMALL)
    try:
        assert (told.code, told.err) == (0, "")
        assert READY.match(told.out)
        assert "kohort down" in told.out
    finally:
        ended = cli("down")
    assert (ended.code, ended.out) == (0, "sim has ended\n")
    assert names(cli.home / "sim") == ["log"]
    assert cli("down").out == "no cluster is running\n"
    assert cli("down", "sim").out == "sim is not running\n"


def test_a_start_that_fails_leaves_the_log_of_the_last_cluster(cli):
    folder = cli.home / "sim"
    folder.mkdir(mode=0o700, parents=True)
    (folder / "log").write_text("earlier\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = cli("up", "--detach", "--port", str(taken.getsockname()[1]), *SMALL)
    assert told.code == 1
    assert "in use" in told.err
    assert names(folder) == ["log"]
    assert (folder / "log").read_text() == "earlier\n"


def test_secrets_can_be_read_by_their_owner_only(cli, tmp_path):
    with cli.foreground("--data-dir", tmp_path / "data") as process:
        process.stdout.readline()
        state, data = cli.home / "sim", tmp_path / "data"
        secrets = [state / "kubeconfig", state / "control.json", *data.iterdir()]
        assert len(secrets) > 4
        assert {stat.S_IMODE(path.stat().st_mode) for path in secrets} == {0o600}


def test_clusters_of_two_names_run_side_by_side_and_one_name_runs_once(cli):
    with (
        cli.foreground("-o", "json") as first,
        cli.foreground("--name", "b", "-o", "json") as other,
    ):
        urls = [json.loads(process.stdout.readline())["url"] for process in (first, other)]
        assert urls[0] != urls[1]
        for words in (("up",), ("up", "--detach")):
            told = cli(*words, "--name", "b", "--port", "0")
            assert told.code == 1
            assert told.err.startswith(
                "error: b is running already; stop it with 'kohort down --na"
            )
        assert other.poll() is None


def test_a_plain_file_in_the_home_is_no_cluster(run_kohort, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "notes").write_text("mine")
    told = run_kohort("down")
    assert (told.code, told.out, told.err) == (0, "no cluster is running\n", "")
    told = run_kohort("down", "--name", "notes")
    assert (told.code, told.out) == (0, "notes is not running\n")


def test_who_names_a_cluster_that_does_not_run_is_told_which_do(cli):
    with cli.foreground("--name", "b") as process:
        process.stdout.readline()
        told = cli("sim", "clock", "--name", "sim")
        assert told.err.endswith("'kohort up', or choose with --name what runs: b\n")
        assert cli("down", "sim").out == "sim is not running; these are: b\n"


def test_a_given_port_in_use_is_one_sentence(cli, taken_port):
    for words in ((), ("--detach",)):
        told = cli("up", "--port", str(taken_port), *words)
        assert told.code == 1
        assert told.err.startswith(f"error: port {taken_port} is in use; ")
    assert names(cli.home) == []


def test_a_folder_that_cannot_be_written_is_one_sentence(cli, tmp_path):
    (tmp_path / "file").write_text("mine")
    told = cli("up", "--port", "0", "--data-dir", tmp_path / "file")
    assert (told.code, told.err) == (1, f"error: {tmp_path}/file is not a folder\n")
    told = cli("up", "--port", "0", "--data-dir", tmp_path / "file" / "data")
    assert told.code == 1
    assert re.fullmatch(r"error: cannot write to \S+/data: .*; choose .* --data-dir\n", told.err)
    told = cli("up", "--port", "0", "--kubeconfig", tmp_path / "file" / "config")
    assert told.code == 1
    assert re.fullmatch(r"error: cannot write to \S+/config: .*; .* --kubeconfig\n", told.err)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("words", [(), ("--detach",)])
def test_a_home_that_cannot_be_written_is_one_sentence(cli, tmp_path, words):
    (tmp_path / "file").write_text("mine")
    cli.home = tmp_path / "file"
    told = cli("up", "--port", "0", *words)
    assert told.code == 1
    assert re.fullmatch(r"error: cannot write to \S+/file/sim: .* KOHORT_HOME\n", told.err)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may use every port")
def test_a_port_that_the_system_reserves_is_one_sentence(cli):
    told = cli("up", "--port", "1")
    assert told.code == 1
    assert told.err.startswith("error: port 1 is reserved by the system")


def test_a_damaged_database_is_refused_and_left_as_it_is(cli, tmp_path):
    (tmp_path / "cluster.db").write_bytes(b"not a database" * 100)
    told = cli("up", "--port", "0", "--data-dir", tmp_path)
    assert told.code == 1
    assert re.match(r"error: .*cluster\.db is damaged", told.err)
    assert told.err.count("\n") == 1
    assert (tmp_path / "cluster.db").read_bytes() == b"not a database" * 100


def test_a_foreign_kubeconfig_is_left_as_it_is(cli, tmp_path):
    (tmp_path / "config").write_text("apiVersion: v1\n")
    told = cli("up", "--port", "0", "--kubeconfig", tmp_path / "config")
    assert told.code == 1
    assert "is left as it is" in told.err
    assert (tmp_path / "config").read_text() == "apiVersion: v1\n"


def test_a_folder_is_no_place_for_a_kubeconfig(cli, tmp_path):
    told = cli("up", "--port", "0", "--kubeconfig", tmp_path)
    assert told.err == f"error: {tmp_path} is a folder; name a file with --kubeconfig\n"


def test_a_stale_pid_is_not_killed(cli):
    (cli.home / "sim").mkdir(parents=True)
    (cli.home / "sim" / "pid").write_text(str(os.getpid()))
    told = cli("down").out
    assert told == "sim is not running: it was killed, and its stale files are removed\n"
    with cli.foreground() as process:
        assert process.stdout.readline().startswith("control plane ready")


def test_a_kept_cluster_goes_on_after_it_was_killed(cli, tmp_path, kubectl):
    data, config = ("--data-dir", tmp_path / "data"), cli.home / "sim" / "kubeconfig"
    with cli.foreground(*data, "--nodes", "3") as process:
        process.stdout.readline()
        kubectl("create", "configmap", "kept", env={"KUBECONFIG": str(config)})
        before = config.read_text()
        process.kill()
    with cli.foreground(*data) as process:
        assert "3 nodes, 24 GPUs, 2 racks" in process.stdout.readline()
        kept = kubectl("get", "configmap", "kept", "-o=name", env={"KUBECONFIG": str(config)})
        assert kept.stdout == "configmap/kept\n"
        certificates = re.search(r"certificate-authority-data.*", before)
        assert certificates and certificates[0] in config.read_text()
    assert config.exists()
