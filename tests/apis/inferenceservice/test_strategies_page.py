"""The strategy on the page works as it stands there, and no file of Kohort knows of it."""

import re
from pathlib import Path

import pytest
from isvc_builders import model, multi_node, names_of, planned, rbg, runtime, service

from kohort.apis.inferenceservice import assembly, kinds, labels
from kohort.apis.inferenceservice.read import find_serving
from kohort.apis.inferenceservice.reasons import ServiceError
from kohort.apis.inferenceservice.spec import ComponentType
from kohort.apis.inferenceservice.strategies import registry
from kohort.cluster.kinds import DEPLOYMENT, SERVICE

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "workload-strategies.md").read_text()
ASKED = {"example.com/workload": "leaderworkersets"}


class Point:
    """An entry point, as an installed package would have it."""

    name = "leaderworkersets"

    def load(self) -> type:
        (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
        scope: dict = {"__name__": "my_package"}
        exec(code, scope)
        found: type = scope["LeaderWorkerSets"]
        return found


@pytest.fixture
def manager(monkeypatch):
    def list_points(group: str) -> list[Point]:
        return [Point()] if f'"{group}"' in PAGE else []

    monkeypatch.setattr(registry, "entry_points", list_points)
    return registry.load_manager.__wrapped__()


def test_the_strategy_of_the_page_makes_sets_of_all_components(manager):
    plan = planned(service(annotations=ASKED, router={}), manager=manager)
    assert plan.workload.strategy == "LeaderWorkerSets"
    assert names_of(plan) == {
        "ConfigMap modelconfig-chat",
        "LeaderWorkerSet lws-chat-engine",
        "LeaderWorkerSet lws-chat-router",
        "Service chat-engine",
        "Service chat-router",
        "Service chat",
        "ServiceAccount chat-router",
        "Role chat-router",
        "RoleBinding chat-router",
    }
    spec = plan.find(kinds.LEADER_WORKER_SET, "lws-chat-router")["spec"]
    assert spec["leaderWorkerTemplate"]["size"] == 1


def test_the_others_are_selected_as_before(manager):
    assert planned(service(), manager=manager).workload.strategy == "SingleComponent"
    assert planned(rbg(), manager=manager).workload.strategy == "RBG"
    many = planned(service(annotations=ASKED), model(), multi_node(), manager=manager)
    set_ = many.find(kinds.LEADER_WORKER_SET, "lws-chat-engine")
    assert set_["spec"]["leaderWorkerTemplate"]["size"] == 4


def test_a_mode_that_it_cannot_deploy_is_refused_in_its_name(manager):
    obj = service(annotations=ASKED, engine={"minReplicas": 0})
    with pytest.raises(ServiceError, match="strategy LeaderWorkerSets cannot deploy"):
        planned(obj, model(), runtime(), manager=manager)


def test_readiness_is_read_from_the_workloads_that_the_strategy_made(manager):
    plan = planned(service(annotations=ASKED), manager=manager)
    available = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
    old = {DEPLOYMENT: {"chat-engine": available}}
    assert not find_serving(plan, old, ())[ComponentType.ENGINE]
    new = {kinds.LEADER_WORKER_SET: {"lws-chat-engine": available}}
    assert find_serving(plan, new, ())[ComponentType.ENGINE]


def test_a_kind_that_services_do_not_own_is_refused(manager, monkeypatch):
    monkeypatch.setattr(assembly, "OWNED", (SERVICE,))
    with pytest.raises(ServiceError, match="makes LeaderWorkerSet lws-chat-engine, a kind that"):
        planned(service(annotations=ASKED), manager=manager)


def test_no_file_of_kohort_knows_the_strategy():
    known = [
        path for path in (ROOT / "src").rglob("*.py") if '"LeaderWorkerSets"' in path.read_text()
    ]
    assert known == []


def test_every_annotation_of_ours_on_the_page_is_a_key():
    texts = {key.text for key in labels.KEYS}
    assert set(re.findall(r"`((?:kohort\.dev|ome\.io)/[\w-]+)", PAGE)) <= texts
