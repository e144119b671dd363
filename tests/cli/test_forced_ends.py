"""What ``kohort down --kill`` may end, and which folders ``kohort up`` may write to."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from command_lines import Cli, Told

from kohort.cli.commands import clusters, down
from kohort.cli.exits import Exit

RunKohort = Callable[..., Told]
NO_URL = """
current-context: odd
contexts: [{name: odd, context: {cluster: odd, user: odd}}]
clusters: [{name: odd, cluster: {server: "https://[bad"}}]
users: [{name: odd, user: {}}]
"""


@contextmanager
def ready(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """A cluster that has said where it is."""
    with cli.foreground("--nodes", "0") as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process


@contextmanager
def stopped(cli: Cli) -> Iterator[subprocess.Popen[str]]:
    """A cluster that cannot react to anything but a kill."""
    with ready(cli) as process:
        process.send_signal(signal.SIGSTOP)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user need not wait for a cluster that will not end."""
    monkeypatch.setattr(down, "_SECONDS_MAX", 0.2)


def test_a_cluster_that_does_not_end_is_left_running_and_named(cli: Cli, run_kohort: RunKohort):
    with stopped(cli) as process:
        told = run_kohort("down")
        assert told.code == Exit.TIMED_OUT
        assert f"sim (process {process.pid}) has not ended after" in told.err
        assert "'kohort down --kill' ends it by force" in told.err
        assert process.poll() is None


def test_a_cluster_that_does_not_end_is_ended_by_force_if_asked_and_leaves_nothing(
    cli: Cli, run_kohort: RunKohort
):
    with stopped(cli) as process:
        told = run_kohort("down", "--kill")
        assert (told.code, told.out) == (Exit.DONE, "sim has ended\n"), told
        assert process.wait(timeout=30) == -signal.SIGKILL
    assert not (cli.home / "sim" / "pid").exists()


def test_who_has_killed_in_vain_is_not_advised_to_kill(
    cli: Cli, run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(down, "_KILLED_SECONDS_MAX", 0.2)
    with stopped(cli) as process:
        with monkeypatch.context() as patched:
            patched.setattr(os, "kill", lambda *_: None)
            told = run_kohort("down", "--kill")
        assert told.code == Exit.TIMED_OUT
        assert "seconds after it was killed; see what holds it with 'ps " in told.err
        assert f"-p {process.pid}'" in told.err and "--kill" not in told.err


def test_a_cluster_whose_name_was_taken_in_the_meantime_has_ended(
    cli: Cli, run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch
):
    with ExitStack() as stack:
        processes = [stack.enter_context(ready(cli))]

        def end_and_start(_: int, number: int) -> None:
            patched.undo()
            processes[0].send_signal(number)
            processes[0].wait(timeout=30)
            processes.append(stack.enter_context(ready(cli)))

        with monkeypatch.context() as patched:
            patched.setattr(os, "kill", end_and_start)
            told = run_kohort("down")
        news = f"another one was started in the meantime (process {processes[1].pid})"
        assert (told.code, told.out) == (Exit.DONE, f"sim has ended; {news}\n"), told


def test_a_cluster_that_ends_while_clusters_are_listed_is_left_out(
    cli: Cli, run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch
):
    with ready(cli) as process:

        def end(_: object) -> None:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)

        monkeypatch.setattr(clusters, "find_by_context", end)
        told = run_kohort("clusters")
    assert told == Told(Exit.DONE, "no cluster is running; start one with 'kohort up'\n", "")


def test_a_server_that_is_no_url_is_one_sentence(
    run_kohort: RunKohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "config").write_text(NO_URL)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    told = run_kohort("sim", "clock")
    assert told.code == 1
    assert told.err.startswith(
        "error: the server 'https://[bad' of the kubeconfig's context 'odd' is no URL ("
    )
    assert run_kohort("clusters").code == 0


def test_a_process_that_is_no_cluster_is_not_ended_by_force(run_kohort: RunKohort, cli: Cli):
    (cli.home / "sim").mkdir(parents=True)
    (cli.home / "sim" / "pid").write_text(str(os.getpid()))
    told = run_kohort("down", "--kill")
    assert told.out == "sim is not running: it was killed, and its stale files are removed\n"


@pytest.fixture(params=["home", "data"])
def folder(request: pytest.FixtureRequest, cli: Cli, tmp_path: Path) -> tuple[Path, list[str]]:
    """A folder that is to be written to, and the words that make a command do it."""
    if request.param == "home":
        return cli.home / "sim", []
    return tmp_path / "data", ["--data-dir", str(tmp_path / "data")]


def test_a_link_is_not_written_through(
    folder: tuple[Path, list[str]], run_kohort: RunKohort, tmp_path: Path
):
    place, words = folder
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(tmp_path / "elsewhere")
    told = run_kohort("up", "--port", "0", *words)
    assert told.code == 1
    assert told.err.startswith(f"error: {place} is a link; ")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_others_can_write_to_is_refused_with_the_command_that_mends_it(
    folder: tuple[Path, list[str]], run_kohort: RunKohort
):
    place, words = folder
    place.mkdir(parents=True)
    place.chmod(0o777)
    told = run_kohort("up", "--port", "0", *words)
    assert told.code == 1
    assert f"{place} can be written by others; run 'chmod go-w {place}'" in told.err


def test_a_folder_of_another_user_is_refused(
    folder: tuple[Path, list[str]], run_kohort: RunKohort, monkeypatch: pytest.MonkeyPatch
):
    place, words = folder
    place.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    told = run_kohort("up", "--port", "0", *words)
    assert told.code == 1
    assert f"{place} belongs to another user; " in told.err
