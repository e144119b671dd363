"""Metrics of services by the strategy that runs them."""

from service_lab import KIND, RBG, ServiceLab, kinds, service, start

from kohort.apis.inferenceservice import labels
from kohort.controller.process.measures import Measures


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
