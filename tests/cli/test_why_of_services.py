"""``kohort get`` and ``why`` go from an InferenceService down to the pod that fails."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_lines import Cli
from why_situations import TEMPLATES, write_object, write_spec

from kohort.apis.inferenceservice.kinds import INFERENCE_SERVICE
from kohort.apis.inferenceservice.labels import DEPLOYMENT_MODE
from kohort.cluster.http import connect
from kohort.cluster.objects import Object

pytestmark = pytest.mark.slow
# The strategy, and what is said of the object below the service that the pods belong to.
LAYERS = {
    "RawDeployment": "Deployment rawdeployment-decoder says Available=False",
    "RoleBasedGroup": "RoleBasedGroup rolebasedgroup says Ready=False",
}


def write_service(mode: str) -> Object:
    """A service whose engine serves and whose decoder crashes."""
    spec = {
        "engine": write_spec("isvc", TEMPLATES["well"])["engine"],
        "decoder": write_spec("isvc", TEMPLATES["crash"])["engine"],
    }
    return write_object("isvc", mode.lower(), spec, annotations={DEPLOYMENT_MODE: mode})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cli, str]]:
    cli = Cli(tmp_path_factory.mktemp("services"))
    flags = ("--port", "0", "--clock", "2026-01-01T09:00:00Z", "--no-dashboard", "--detach")
    kubeconfig = Path(json.loads(cli("up", *flags, "-o", "json").out)["kubeconfig"])

    async def make() -> None:
        async with connect(kubeconfig) as door:
            for mode in LAYERS:
                await door.create(INFERENCE_SERVICE, "default", write_service(mode))

    asyncio.run(make())
    for _ in range(3):
        told = cli("sim", "clock", "step", "60s")
        assert told.code == 0, told.err
    yield cli, str(kubeconfig)
    cli("down")


def ask(cluster: tuple[Cli, str], words: str, mode: str) -> str:
    cli, kubeconfig = cluster
    return cli(words, f"isvc/{mode.lower()}", "--kubeconfig", kubeconfig).out


@pytest.mark.parametrize("words", ["get", "why"])
@pytest.mark.parametrize("mode", LAYERS)
def test_the_pod_that_fails_is_named_with_its_role_and_how_it_ended(
    cluster: tuple[Cli, str], mode: str, words: str
):
    told = ask(cluster, words, mode)
    for part in ("CrashLoopBackOff", "decoder", f"{mode.lower()}-decoder-", "exit 1"):
        assert part in told, told


@pytest.mark.parametrize(("mode", "layer"), LAYERS.items(), ids=LAYERS)
def test_the_answer_says_in_which_layer_the_fault_lies(
    cluster: tuple[Cli, str], mode: str, layer: str
):
    """The object between service and pod says what it lacks; the one whose pods serve is silent."""
    told = ask(cluster, "why", mode)
    assert layer in told
    assert "-engine says" not in told
