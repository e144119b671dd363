"""All commands give the same verdict on a workload, with its cause."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_lines import Cli, Told
from workload_hand import Hand

pytestmark = pytest.mark.slow
Tell = Callable[..., Told]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a fast cluster with the operator in it."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    started = cli("up", "--port", "0", "--speed", "50", "--detach", "-o", "json")
    assert started.code == 0, started.err
    yield Path(json.loads(started.out)["kubeconfig"])
    cli("down")


@pytest.fixture
def kohort(tell: Tell, cluster: Path, monkeypatch: pytest.MonkeyPatch) -> Tell:
    """The command line, in this process, with that cluster in the environment."""
    monkeypatch.setenv("KUBECONFIG", str(cluster))
    return tell


def read_verdicts(kohort: Tell, name: str) -> set[tuple[str, str]]:
    """The word and the reason that every command gives."""
    row = json.loads(kohort("get", "lws", "-l", f"team={name}", "-o", "json").out)[0]
    tree = json.loads(kohort("get", f"lws/{name}", "-o", "json").out)["row"]
    why = json.loads(kohort("why", f"lws/{name}", "-o", "json").out)["row"]
    return {(found["health"]["word"], found["health"]["reason"]) for found in (row, tree, why)}


def test_pods_that_are_refused_are_named_by_every_command(kohort: Tell, cluster: Path):
    hand = Hand(cluster, "refused")
    hand.create(spec={"priorityClassName": "missing"})
    status = kohort("rollout", "status", "lws/refused", "--timeout", "90s")
    assert status.code == 4, status
    assert "error: lws/refused is blocked: FailedCreate: StatefulSet refused" in status.err
    assert "no PriorityClass with name missing was found" in status.err
    assert kohort("why", "lws/refused").code == 4
    assert read_verdicts(kohort, "refused") == {("blocked", "FailedCreate")}
    assert "refused" in kohort("get", "--blocked").out


def test_an_operator_that_is_away_is_named_with_the_change_that_it_has_not_seen(
    tell: Tell, cli: Cli
):
    started = cli("up", "--port", "0", "--speed", "50", "--detach", "-o", "json", "--no-operator")
    config = Path(json.loads(started.out)["kubeconfig"])
    try:
        hand = Hand(config, "alone")
        hand.install()
        hand.create()
        hand.write_status({"observedGeneration": 1})
        hand.write_lease("2026-01-01T00:00:00.000000Z")
        hand.edit({"op": "replace", "path": "/spec/replicas", "value": 3})
        why = tell("why", "lws/alone", "--kubeconfig", str(config))
        assert why.code == 4
        assert "OperatorSilent: the operator has not seen generation 2, only 1" in why.out
        assert "was renewed last at 2026-01-01T00:00:00Z" in why.out
        assert "OperatorSilent" in tell("get", "--blocked", "--kubeconfig", str(config)).out
    finally:
        cli("down")
