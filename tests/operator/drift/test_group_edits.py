"""Another client edits worker sets and Services: they are put back, within the budget."""

import pytest
from edits import edit_as, set_image
from operator_lab import Lab, make_lws
from operator_truth import Budget, Truth

from kohort.apiserver.api.requests import PatchBody, WriteOptions
from kohort.cluster import kinds
from kohort.cluster.objects import find_condition
from kohort.cluster.port import PatchType

PREFIX = "leaderworkerset.sigs.k8s.io/"
STRATEGIES = pytest.mark.parametrize("strategy", ["budgeted", "compatible"])
STRATEGY = "kohort.dev/rollout-strategy"


async def bring_up(lab: Lab, policy: str = "RecreateGroupOnPodRestart", **more: object) -> Truth:
    truth = Truth(lab)
    template = {"restartPolicy": policy}
    await lab.apply(make_lws(groups=4, size=3, template=template, **more))
    await lab.until(lab.is_available)
    await lab.run(20)
    truth.promise(Budget(4))
    return truth


async def rest(lab: Lab) -> None:
    def is_at_rest() -> bool:
        drifted = find_condition(lab.lws(), "Drifted") or {}
        return lab.is_available() and drifted.get("status") != "True"

    await lab.until(is_at_rest, 900)
    await lab.run(20)
    before = lab.api.store.revision
    await lab.run(700)
    assert lab.api.store.revision == before


def images(lab: Lab) -> set[str]:
    return {p["spec"]["containers"][0]["image"] for p in lab.all(kinds.POD)}


@STRATEGIES
@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "None"])
async def test_a_foreign_image_of_a_worker_set_costs_that_group_alone(
    lab: Lab, policy: str, strategy: str
):
    truth = await bring_up(lab, policy, annotations={STRATEGY: strategy})
    await set_image(lab, name="x-1")
    await lab.run(10)
    await rest(lab)
    assert truth.breaches == []
    assert images(lab) == {"engine:1"}
    assert [len(truth.made(f"x-{i}")) for i in (0, 2, 3)] == [1, 1, 1]


@STRATEGIES
async def test_revisions_of_worker_sets_that_are_edited_roll_within_the_budget(
    lab: Lab, strategy: str
):
    truth = await bring_up(lab, annotations={STRATEGY: strategy})
    for ordinal in range(4):
        body = {"metadata": {"labels": {f"{PREFIX}template-revision-hash": "other"}}}
        await edit_as(lab, "kubectl-label", body, f"x-{ordinal}")
    await lab.run(10)
    await rest(lab)
    assert truth.breaches == []


@pytest.mark.parametrize("carrier", ["statefulsets", "pods"])
@pytest.mark.parametrize("policy", ["Shared", "UniquePerReplica"])
async def test_the_selector_of_a_service_is_put_back(lab: Lab, policy: str, carrier: str):
    more = {"spec": {"networkConfig": {"subdomainPolicy": policy}}}
    await bring_up(lab, annotations={"kohort.dev/carrier": carrier}, **more)
    name = "x" if policy == "Shared" else "x-2"
    before = lab.find(kinds.SERVICE, name) or {}
    body = {"spec": {"selector": {"app": "other"}, "publishNotReadyAddresses": False}}
    await edit_as(lab, "kubectl-patch", body, name, kinds.SERVICE)
    await lab.run(5)
    found = lab.find(kinds.SERVICE, name) or {}
    assert found["spec"] == before["spec"]
    condition = find_condition(lab.lws(), "Drifted") or {}
    assert (condition["status"], f"Service {name}" in condition["message"]) == ("True", True)
    await rest(lab)


async def test_a_port_that_was_added_to_a_service_stays(lab: Lab):
    await bring_up(lab)
    ports = {"spec": {"ports": [{"port": 80}]}}
    await edit_as(lab, "kubectl-patch", ports, "x", kinds.SERVICE)
    await lab.run(60)
    assert (lab.find(kinds.SERVICE, "x") or {})["spec"]["ports"][0]["port"] == 80


async def test_who_insists_on_a_service_costs_few_writes(lab: Lab):
    await bring_up(lab)
    before = lab.cluster.tried.total()
    for second in range(600):
        body = {"spec": {"selector": {"app": str(second)}}}
        await edit_as(lab, "kubectl-patch", body, "x", kinds.SERVICE)
        await lab.run(1)
    assert lab.cluster.tried.total() - before < 100


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("policy", ["RecreateGroupOnPodRestart", "None"])
async def test_a_number_of_workers_that_another_client_set_is_put_back_and_named(
    lab: Lab, policy: str, replicas: int
):
    truth = await bring_up(lab, policy)
    truth.promise(Budget(4, lost=1))
    before = {pod["metadata"]["name"] for pod in lab.all(kinds.POD)}
    target = lab.api.target(kinds.STATEFUL_SET, lab.namespace, "x-1", "scale")
    patch = PatchBody(PatchType.MERGE, {"spec": {"replicas": replicas}})
    await lab.api.patch(target, patch, WriteOptions(manager="kubectl"))
    await lab.run(5)
    await rest(lab)
    assert {pod["metadata"]["name"] for pod in lab.all(kinds.POD)} == before
    assert [len(truth.made(f"x-{i}")) for i in (0, 2, 3)] == [1, 1, 1]
    events = [e["message"] for e in lab.all(kinds.EVENT) if e["reason"] == "Drifted"]
    assert events == [f"StatefulSet x-1: kubectl set spec.replicas to {replicas}; it is put back"]
