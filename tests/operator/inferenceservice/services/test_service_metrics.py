"""Metrics of services by the strategy that runs them."""

from lab_metrics import LabMetrics
from service_lab import KIND, RBG, ServiceLab, kinds, service, start

from kohort.apis.inferenceservice import labels
from kohort.controller.process.measures import Measures

NAME = {"kind": "InferenceService", "namespace": "default", "name": "chat"}


def count(strategy: str, number: int) -> str:
    kind = 'kind="InferenceService",namespace="default"'
    return f'kohort_strategy_workloads{{{kind},strategy="{strategy}"}} {number}'


def measure(lab: ServiceLab) -> Measures:
    measures = Measures(lab.time)
    for controller in lab.operator.controllers:
        measures.follow(controller)
    return measures


async def test_services_are_counted_by_strategy_until_they_go(lab: ServiceLab):
    measures = measure(lab)
    await start(lab, service("engine"))
    assert count("SingleComponent", 1) in measures.registry.render()
    await lab.annotate(labels.DEPLOYMENT_MODE, RBG)
    await lab.until(lambda: lab.find(kinds.DEPLOYMENT, "chat-engine") is None, 120)
    text = measures.registry.render()
    assert count("RBG", 1) in text and 'strategy="SingleComponent"} 1' not in text
    await lab.delete(KIND, "chat")
    await lab.until(lambda: lab.find(KIND, "chat") is None)
    await lab.settle()
    assert "kohort_strategy_workloads{" not in measures.registry.render()


async def test_reconciles_are_measured_by_strategy_and_result(lab: ServiceLab):
    measures = measure(lab)
    await start(lab, service("engine", mode=RBG))
    name = "kohort_strategy_reconcile_seconds_count"
    told = [line for line in measures.registry.render().splitlines() if line.startswith(name)]
    labelled = 'kind="InferenceService",strategy="RBG",result="done"'
    assert [line.split("{")[1].split("}")[0] for line in told] == [labelled]


async def test_a_service_that_cannot_be_resolved_has_no_strategy(lab: ServiceLab):
    measures = measure(lab)
    lab.remove_webhooks()
    await lab.apply(service("engine"))
    await lab.run(5)
    text = measures.registry.render()
    assert "kohort_strategy_workloads{" not in text
    assert "kohort_strategy_reconcile_seconds_count{" not in text


async def test_the_components_of_a_service_are_its_roles(lab: ServiceLab):
    metrics = LabMetrics(lab)
    await start(lab, service("engine", "decoder"))
    for role in ("engine", "decoder"):
        asked = {**NAME, "level": "instance", "role": role}
        assert metrics.sum("kohort_units", **asked, phase="ready") == 1
        assert metrics.sum("kohort_units_desired", **asked) == 1
    assert metrics.sum("kohort_units_desired", **NAME, level="member") == 2
    assert metrics.sum("kohort_start_seconds_count", kind=KIND.name, phase="ready") == 2


async def test_a_rollout_of_a_service_is_measured(lab: ServiceLab):
    metrics = LabMetrics(lab)
    await start(lab, service("engine"))
    assert metrics.sum("kohort_rollout_progress_ratio", **NAME) == 1
    runners = {runner.component.name: runner for runner in lab.world.runners}
    lab.hold_component(runners["deployments"])
    await lab.set_field("/spec/engine/runner", {"env": [{"name": "A", "value": "1"}]})
    await lab.run(1)
    lab.release_component(runners["deployments"])
    await lab.until(lambda: 0 <= metrics.sum("kohort_rollout_progress_ratio", **NAME) < 1, 60)
    await lab.until(lambda: metrics.sum("kohort_rollout_progress_ratio", **NAME) == 1, 120)
    assert metrics.sum("kohort_rollout_duration_seconds_count", kind=KIND.name) == 1
