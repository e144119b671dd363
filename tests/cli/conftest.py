"""Commands run in this process where they can, in one of their own where they stay."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_lines import Cli, Told

from kohort.cli.main import main

RunKohort = Callable[..., Told]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line with an empty home."""
    return Cli(tmp_path / "home")


@pytest.fixture
def run_kohort(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a command in this process."""
    monkeypatch.setenv("KOHORT_HOME", str(tmp_path / "home"))

    def run(*words: str) -> Told:
        try:
            code = main(words)
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return Told(code, said.out, said.err)

    return run


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a fast cluster with the operator in it."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    started = cli("up", "--port", "0", "--speed", "50", "--detach", "-o", "json")
    assert started.code == 0, started.err
    yield Path(json.loads(started.out)["kubeconfig"])
    cli("down")


@pytest.fixture
def kohort(run_kohort: RunKohort, cluster: Path, monkeypatch: pytest.MonkeyPatch) -> RunKohort:
    """The command line, in this process, with that cluster in the environment."""
    monkeypatch.setenv("KUBECONFIG", str(cluster))
    return run_kohort


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port on which a process listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def unused_port() -> int:
    """A port on which no process listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
