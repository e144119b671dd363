"""``kohort plan`` while no operator runs: the planner itself runs in the command, for all APIs."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from command_lines import Told
from deserted_cluster import NEXT, deserted_cluster
from why_situations import SHORT, write_object, write_spec

from kohort.cluster.objects import Object

pytestmark = pytest.mark.slow
RunKohort = Callable[..., Told]
Plan = Callable[..., Object]


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with deserted_cluster(tmp_path_factory.mktemp("deserted"), has_lease=False) as found:
        yield found


@pytest.fixture
def plan(run_kohort: RunKohort, kubeconfig: Path) -> Plan:
    """Run the command and read what it says to programs."""

    def run(*words: str) -> Object:
        told = run_kohort("plan", *words, "--kubeconfig", str(kubeconfig), "-o", "json")
        assert told.code == 0, told.err
        found: Object = json.loads(told.out)
        assert found["ending"] == "done"
        return found

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], str]:
    """Write a file with a workload of the next image."""

    def write(kind: str, name: str) -> str:
        path = tmp_path / "next.yaml"
        path.write_text(yaml.safe_dump(write_object(kind, name, write_spec(kind, NEXT, 2))))
        return str(path)

    return write


def list_touched(view: Object) -> list[list[str]]:
    """What goes, comes or is updated in each step; of a service, the objects."""
    if "writes" in view:
        return [[f"{m['move']} {m['kind']}" for m in s["moves"]] for s in view["steps"]]
    return [step["updates"] or step["comes"] for step in view["steps"]]


REPLACED = {
    "lws": [["group 1"], ["group 0"]],
    "ms": [["group 1"], ["group 0"]],
    "rbg": [["engine 1"], ["engine 0"]],
    "isvc": [["update Deployment"]],
}
MADE = {
    "lws": ["group 0", "group 1"],
    "ms": ["group 0", "group 1"],
    "rbg": ["engine 0", "engine 1"],
}


@pytest.mark.parametrize("kind", SHORT)
def test_an_edit_without_an_operator_is_planned_to_its_end(plan: Plan, kind: str):
    view = plan(f"{kind}/{kind}-edited")
    assert list_touched(view) == REPLACED[kind]
    assert view["pods"]["after"] == 2


@pytest.mark.parametrize("kind", SHORT)
def test_a_file_that_changes_a_workload_is_planned(
    plan: Plan, write: Callable[[str, str], str], kind: str
):
    view = plan("-f", write(kind, f"{kind}-calm"))
    assert list_touched(view) == REPLACED[kind]
    assert view["pods"]["before"] == view["pods"]["after"] == 2


@pytest.mark.parametrize("kind", SHORT)
def test_a_file_with_a_new_workload_is_planned(
    plan: Plan, write: Callable[[str, str], str], kind: str
):
    view = plan("-f", write(kind, f"{kind}-unborn"))
    [made] = list_touched(view)
    if kind == "isvc":
        assert "create Deployment" in made
    else:
        assert made == MADE[kind]
    assert (view["pods"]["before"], view["pods"]["after"]) == (0, 2)


@pytest.mark.parametrize("kind", SHORT)
def test_a_workload_that_is_not_created_yet_and_one_at_rest_are_planned(plan: Plan, kind: str):
    assert plan(f"{kind}/{kind}-new")["pods"]["after"] == 2
    assert plan(f"{kind}/{kind}-calm")["steps"] == []
