"""``kohort takeover apply`` and ``undo`` as people type them: what they say, and how they end."""

import asyncio
import json
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_lines import KOHORT, Cli, Told

from children import started
from kohort.apis.served import APIS
from kohort.cluster.http import connect
from kohort.cluster.kinds import DEPLOYMENT
from kohort.cluster.port import Address
from kohort.controller.install import InstallOptions, install_definitions
from kohort.takeover.record import KINDS
from upstream_controllers import OTHERS

RunKohort = Callable[..., Told]
LWS = OTHERS["lws"]
PLACE = "Deployment lws-system/lws-controller-manager"
RUNNING = ("--operator-running", "--webhook-url", "https://127.0.0.1:9")
ALL = {"check": ("-A",), "shadow": ("-A", "--for", "1s"), "apply": RUNNING, "undo": ()}


def put(kubeconfig: Path) -> None:
    """The definitions, and the controller of LeaderWorkerSet as it is installed."""

    async def work() -> None:
        async with connect(kubeconfig) as door:
            await install_definitions(door, APIS, InstallOptions())
            for obj in LWS.list_objects():
                kind = KINDS[obj["kind"]]
                await door.create(kind, obj["metadata"].get("namespace", ""), obj)

    asyncio.run(work())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a cluster with another controller and without ours."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    flags = ("--port", "0", "--speed", "50", "--no-operator", "--detach", "-o", "json")
    begun = cli("up", *flags)
    assert begun.code == 0, begun.err
    kubeconfig = Path(json.loads(begun.out)["kubeconfig"])
    put(kubeconfig)
    yield kubeconfig
    cli("down")


@pytest.fixture
def kohort(run_kohort: RunKohort, alone: Path, monkeypatch: pytest.MonkeyPatch) -> RunKohort:
    monkeypatch.setenv("KUBECONFIG", str(alone))
    return run_kohort


def test_a_dry_run_names_what_would_be_stopped_and_replaced(kohort: RunKohort):
    told = kohort("takeover", "apply", *RUNNING, "--dry-run")
    assert told.code == 0, told.err
    assert told.out.splitlines() == [
        f"{PLACE}: 2 replicas, to be stopped",
        "MutatingWebhookConfiguration lws-mutating-webhook-configuration: to be replaced",
        "ValidatingWebhookConfiguration lws-validating-webhook-configuration: to be replaced",
    ]


def test_a_dry_run_for_programs_says_that_nothing_is_done(kohort: RunKohort):
    told = json.loads(kohort("takeover", "apply", *RUNNING, "--dry-run", "-o", "json").out)
    assert (told["apis"], told["done"]) == (["lws"], False)
    assert [(o["name"], o["replicas"]) for o in told["deployments"]] == [(LWS.deployment, 2)]
    assert len(told["webhooks"]) == 2


def test_without_a_terminal_and_without_yes_nothing_happens(kohort: RunKohort):
    told = kohort("takeover", "apply", *RUNNING)
    assert told.code == 2
    assert "use --yes" in told.err
    told = kohort("takeover", "undo", "-o", "json")
    assert (told.code, json.loads(told.out)["done"]) == (0, False)


@pytest.mark.parametrize("flags", [(), ("--image", "kohort:1", "--operator-running")])
def test_it_must_be_said_how_our_operator_is_started(run_kohort: RunKohort, flags):
    told = run_kohort("takeover", "apply", *flags)
    assert told.code == 2
    assert "--image IMAGE deploys it" in told.err


@pytest.mark.parametrize(
    ("flag", "word"),
    [("--accept", "Pod:"), ("--accept", "a/b/c/d"), ("--deployment", "x"), ("--timeout", "soon")],
)
def test_a_word_that_is_not_understood_is_a_mistake_of_usage(run_kohort: RunKohort, flag, word):
    told = run_kohort("takeover", "apply", *RUNNING, flag, word)
    assert told.code == 2
    assert flag in told.err and word in told.err


def test_an_operator_that_the_user_starts_needs_an_address(kohort: RunKohort):
    told = kohort("takeover", "apply", "--operator-running", "--yes")
    assert told.code == 4
    assert "say with --webhook-url URL" in told.err


def test_a_controller_that_is_not_found_is_said(kohort: RunKohort):
    told = kohort("takeover", "apply", *RUNNING, "--apis", "rbg", "--yes")
    assert told.code == 4
    assert "looked for the Deployment rbgs-controller-manager in all namespaces" in told.err


def test_nothing_to_undo_is_no_error(kohort: RunKohort):
    told = kohort("takeover", "undo", "--yes")
    assert told.code == 0
    assert told.out == "nothing to undo: no takeover is recorded in namespace lws-system\n"


def test_a_shadow_of_a_cluster_at_rest_sees_nothing(kohort: RunKohort):
    told = kohort("takeover", "shadow", "-A", "--for", "1s", "-o", "json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert (found["seen"], found["stayed"], found["faults"]) == (0, [], [])


def test_a_running_shadow_ends_at_an_interrupt_with_its_summary(alone: Path):
    command = [*KOHORT, "takeover", "shadow", "-A", "--kubeconfig", str(alone)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert "the shadow runs" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "0 workloads   0 differences were seen   0 stayed" in out


def test_an_interrupted_takeover_can_be_undone(kohort: RunKohort, alone: Path):
    """No controller starts our operator here, so apply waits for it when it is interrupted."""
    command = [*KOHORT, "takeover", "apply", *RUNNING, "--yes", "--kubeconfig", str(alone)]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "wait for silence" in line:
                break
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, said + rest
    assert "what was done is recorded: see 'kohort takeover undo'" in rest
    assert count_replicas(alone) == 0
    told = kohort("takeover", "undo", "--dry-run")
    first, *more = told.out.splitlines()
    assert first == f"{PLACE}: to be started with 2 replicas"
    assert more == [f"{kind} {name}: to be put back" for kind, name, _ in LWS.hooks]
    assert count_replicas(alone) == 0
    told = kohort("takeover", "undo", "--yes")
    assert (told.code, told.out.splitlines()[-1]) == (
        0,
        "undone: the other controller runs as before",
    )
    assert count_replicas(alone) == 2


def count_replicas(kubeconfig: Path) -> int:
    async def work() -> int:
        async with connect(kubeconfig) as door:
            found = await door.read(Address(DEPLOYMENT, LWS.namespace, LWS.deployment))
            return int(found["spec"]["replicas"])

    return asyncio.run(work())


@pytest.mark.parametrize("word", ALL)
def test_without_a_cluster_each_command_says_what_to_do(
    run_kohort: RunKohort, unused_port: int, tmp_path: Path, word: str
):
    path = write_config(tmp_path, unused_port)
    told = run_kohort("takeover", word, *ALL[word], "--kubeconfig", str(path))
    assert (told.code, told.out) == (1, "")
    assert "is the cluster running?" in told.err


@pytest.mark.parametrize("word", ALL)
def test_an_interrupt_ends_each_command(tmp_path: Path, word: str):
    """The server takes the connection and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        path = write_config(tmp_path, server.getsockname()[1])
        command = [*KOHORT, "takeover", word, *ALL[word], "--kubeconfig", str(path)]
        with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            taken, _ = server.accept()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            taken.close()
    assert (process.returncode, out, err) == (130, "", "error: interrupted\n")


def write_config(folder: Path, port: int) -> Path:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return path
