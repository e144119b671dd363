"""``kohort plan`` of an InferenceService: objects, writes and GPUs of both workload strategies."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import orjson
import pytest
import yaml
from command_lines import Cli, Told
from workload_hand import Hand

from kohort.apis.inferenceservice import kinds
from kohort.apis.inferenceservice.assembly import OWNED
from kohort.cluster.errors import NotFound
from kohort.cluster.http import HttpCluster
from kohort.cluster.objects import Object, find_controller
from kohort.cluster.port import PatchType, Selection

RunKohort = Callable[..., Told]
EXAMPLE = Path(__file__).parents[2] / "examples" / "inferenceservice.yaml"
MODE = "ome.io/deploymentMode"


def read_example() -> tuple[list[Object], Object]:
    """The model and the runtime, and the service."""
    *shared, service = yaml.safe_load_all(EXAMPLE.read_text())
    return shared, service


class ServiceHand(Hand):
    """What a user does with one InferenceService."""

    def prepare(self) -> None:
        """Make the model, the runtime and the service."""
        shared, service = read_example()

        async def make(door: HttpCluster) -> None:
            for kind, obj in zip(
                (kinds.CLUSTER_BASE_MODEL, kinds.CLUSTER_SERVING_RUNTIME), shared, strict=True
            ):
                await door.create(kind, "", obj)
            await door.create(kinds.INFERENCE_SERVICE, "default", service)

        self._do(make)

    def switch(self) -> None:
        """Ask for a workload for each component, and wait until the group has gone."""
        removal = {"op": "remove", "path": f"/metadata/annotations/{MODE.replace('/', '~1')}"}

        async def switch(door: HttpCluster) -> None:
            groups = door.watch(Selection(kinds.ROLE_BASED_GROUP, "default"), "", initial=True)
            async with asyncio.timeout(60), aclosing(groups) as changes:
                async for change in changes:
                    if change.type == "ADDED":
                        await door.patch(self._address(), [removal], PatchType.JSON)
                    if change.type == "DELETED":
                        return

        self._do(switch)

    def count_owned(self) -> int:
        """How many objects belong to the service."""
        uid = self.read()["metadata"]["uid"]

        async def count(door: HttpCluster) -> int:
            found = 0
            for kind in OWNED:
                try:
                    items = (await door.list(Selection(kind, "default"))).items
                except NotFound:
                    continue
                owners = (find_controller(orjson.loads(raw)) or {} for raw in items)
                found += sum(owner.get("uid") == uid for owner in owners)
            return found

        return self._do(count)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a fast cluster that serves InferenceServices."""
    cli = Cli(tmp_path_factory.mktemp("home"))
    apis = ("--apis", "lws,rbg,isvc")
    started = cli("up", "--port", "0", "--speed", "50", "--detach", "-o", "json", *apis)
    assert started.code == 0, started.err
    yield Path(json.loads(started.out)["kubeconfig"])
    cli("down")


@pytest.fixture(scope="module")
def chat(services: Path) -> ServiceHand:
    """A service that serves as a RoleBasedGroup."""
    hand = ServiceHand(services, "chat", kinds.INFERENCE_SERVICE)
    hand.prepare()
    hand.wait_for_condition("Ready")
    return hand


@pytest.fixture
def plan(
    run_kohort: RunKohort, services: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Object]:
    """Run ``kohort plan`` and read its JSON."""
    monkeypatch.setenv("KUBECONFIG", str(services))

    def run(*words: str) -> Object:
        told = run_kohort("plan", *words, "-o", "json")
        assert told.code == 0, told.err
        found: Object = json.loads(told.out)
        return found

    return run


def test_a_service_at_rest_needs_no_write(plan: Callable[..., Object], chat: ServiceHand):
    view = plan("isvc/chat")
    assert (view["strategy"], view["writes"], view["steps"]) == ("RBG", 0, [])
    assert view["objects"] == chat.count_owned()


def test_a_new_service_is_told_by_its_objects(
    run_kohort: RunKohort, plan: Callable[..., Object], chat: ServiceHand, tmp_path: Path
):
    service = read_example()[1]
    service["metadata"]["name"] = "other"
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(service))
    told = run_kohort("plan", "-f", str(tmp_path / "other.yaml"))
    assert told.out.splitlines()[0] == "other  InferenceService  strategy RBG  new"
    assert "GPUs 0 → 3, no extra GPUs; pods 0 → 4" in told.out


def test_both_strategies_are_compared(
    run_kohort: RunKohort, plan: Callable[..., Object], chat: ServiceHand
):
    told = run_kohort("plan", "isvc/chat", "--strategy", "SingleComponent")
    title, own, other, end = told.out.splitlines()
    assert title.split()[:3] == ["objects", "writes", "steps"]
    assert own.split()[0] == "RBG" and own.split()[2] == "0"
    assert other.split()[0] == "SingleComponent" and other.split()[-1] == "6"
    assert end == "nothing has been applied"


def test_a_strategy_that_does_not_exist_is_answered(
    run_kohort: RunKohort, plan: Callable[..., Object]
):
    told = run_kohort("plan", "isvc/chat", "--strategy", "RGB")
    assert told.code == 2
    assert "unknown strategy 'RGB' of InferenceService (did you mean 'RBG'?)" in told.err


def test_a_switch_ends_with_the_objects_that_were_foretold(
    run_kohort: RunKohort, plan: Callable[..., Object], chat: ServiceHand
):
    own, other = plan("isvc/chat", "--strategy", "SingleComponent")
    assert (own["gpus"]["after"], other["gpus"]["peak"], other["gpus"]["extra"]) == (3, 6, 3)
    # The old workload goes in the last step, when the new ones are ready.
    assert [step["number"] for step in other["steps"]] == [1, 2]
    gone = [m["kind"] for step in other["steps"] for m in step["moves"] if m["move"] == "delete"]
    assert gone == ["RoleBasedGroup"]
    chat.switch()
    assert chat.count_owned() == other["objects"]
    assert plan("isvc/chat")["writes"] == 0
    # Deployments in a list do not say what they are; every command reads them all the same.
    assert run_kohort("why", "isvc/chat").code in (0, 4)
