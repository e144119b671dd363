"""A service that changes its autoscaler: no workload has two of them."""

import pytest
from service_lab import RBG, ServiceLab, kinds, service
from test_refused_changes import Refusing, define

from kohort.apis.inferenceservice import labels
from kohort.apiserver.api.requests import WriteOptions
from kohort.cluster.kinds import AUTOSCALER, DEFINITION


@pytest.mark.parametrize("mode", ["RawDeployment", RBG])
async def test_keda_takes_over_when_the_other_autoscaler_has_gone(lab: ServiceLab, mode: str):
    definition = define(kinds.SCALED_OBJECT)
    await lab.api.create(lab.api.target(DEFINITION), definition, WriteOptions())
    await lab.stock()
    await lab.apply(service("engine", mode=mode))
    await lab.until(lab.is_ready, 120)
    await lab.run(5)
    usual = lab.api.context.admission
    lab.api.context.admission = refusing = Refusing(usual, "DELETE", AUTOSCALER, 2)
    await lab.annotate(labels.AUTOSCALER_CLASS, "keda")
    await lab.until(lambda: refusing.refused > 0, 30)
    await lab.run(5)
    assert (len(lab.all(AUTOSCALER)), lab.all(kinds.SCALED_OBJECT)) == (1, [])
    await lab.until(lambda: not lab.all(AUTOSCALER), 300)
    await lab.run(5)
    assert len(lab.all(kinds.SCALED_OBJECT)) == 1
    assert lab.condition("Stalled")["status"] == "False"
    await lab.annotate(labels.AUTOSCALER_CLASS, "hpa")
    await lab.run(10)
    assert (len(lab.all(AUTOSCALER)), lab.all(kinds.SCALED_OBJECT)) == (1, [])
