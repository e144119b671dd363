"""Evictions: who may go, and what it costs the budget."""

from typing import Any

import pytest
from api_builders import Bench, pod

from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.errors import ClusterError, Conflict, TooManyRequests
from kohort.cluster.kinds import BUDGET, POD


async def make(bench: Bench, *, ready: bool = True, status: dict[str, int], **spec: Any) -> None:
    body = pod("p", nodeName="n")
    body["metadata"]["labels"] = {"app": "a"}
    await bench.create(POD, body)
    conditions = [{"type": "Ready", "status": str(ready)}]
    running = {"status": {"phase": "Running", "conditions": conditions}}
    await bench.merge(POD, "p", running, "status")
    await add_budget(bench, "b", status, **spec)


async def add_budget(bench: Bench, name: str, status: dict[str, int], **spec: Any) -> None:
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}, **spec}
    await bench.create(BUDGET, {"metadata": {"name": name}, "spec": spec})
    await bench.merge(BUDGET, name, {"status": status}, "status")


async def evict(bench: Bench, **asked: Any) -> None:
    body = {"metadata": {"name": "p"}, "deleteOptions": asked}
    await bench.api.create(bench.target(POD, "p", "eviction"), body, WriteOptions())


def is_leaving(bench: Bench) -> bool:
    return "deletionTimestamp" in bench.read(POD, "p")["metadata"]


async def test_an_eviction_spends_the_budget(bench: Bench):
    await make(bench, status={"disruptionsAllowed": 2, "desiredHealthy": 1, "currentHealthy": 3})
    await evict(bench)
    status = bench.read(BUDGET, "b")["status"]
    assert is_leaving(bench)
    assert status["disruptionsAllowed"] == 1
    assert status["disruptedPods"] == {"p": "2026-01-02T03:04:05Z"}


async def test_a_budget_that_allows_nothing_refuses(bench: Bench):
    await make(bench, status={"disruptionsAllowed": 0, "desiredHealthy": 1, "currentHealthy": 1})
    with pytest.raises(TooManyRequests) as refused:
        await evict(bench)
    (cause,) = (refused.value.details or {})["causes"]
    assert cause["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"
    assert not is_leaving(bench)


async def test_a_budget_without_a_selector_protects_no_pod(bench: Bench):
    await make(bench, status={"disruptionsAllowed": 0, "desiredHealthy": 1}, selector=None)
    await evict(bench)
    assert is_leaving(bench)


@pytest.mark.parametrize(
    ("policy", "healthy", "may_go"),
    [
        ("IfHealthyBudget", 1, True),
        ("IfHealthyBudget", 0, False),
        ("AlwaysAllow", 0, True),
    ],
)
async def test_a_pod_that_is_not_ready_goes_as_the_policy_says(
    bench: Bench, policy: str, healthy: int, may_go: bool
):
    status = {"disruptionsAllowed": 0, "desiredHealthy": 1, "currentHealthy": healthy}
    await make(bench, ready=False, status=status, unhealthyPodEvictionPolicy=policy)
    try:
        await evict(bench)
    except TooManyRequests:
        assert not may_go
    assert is_leaving(bench) is may_go


async def test_an_eviction_that_is_only_tried_costs_nothing(bench: Bench):
    await make(bench, status={"disruptionsAllowed": 1, "desiredHealthy": 1, "currentHealthy": 2})
    await evict(bench, dryRun=["All"])
    assert bench.read(BUDGET, "b")["status"]["disruptionsAllowed"] == 1
    assert not is_leaving(bench)


async def test_an_eviction_of_another_pod_of_that_name_leaves_no_mark(bench: Bench):
    await bench.create(POD, pod("p", nodeName="n"))
    with pytest.raises(Conflict):
        await evict(bench, preconditions={"uid": "of-its-predecessor"})
    conditions = bench.read(POD, "p")["status"].get("conditions") or []
    assert not is_leaving(bench)
    assert "DisruptionTarget" not in [condition["type"] for condition in conditions]


async def test_a_pod_of_two_budgets_cannot_be_evicted(bench: Bench):
    status = {"disruptionsAllowed": 1, "desiredHealthy": 1, "currentHealthy": 2}
    await make(bench, status=status)
    await add_budget(bench, "c", status)
    with pytest.raises(ClusterError, match="more than one PodDisruptionBudget"):
        await evict(bench)
