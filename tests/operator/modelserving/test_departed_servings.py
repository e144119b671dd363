"""What the operator remembers of a ModelServing goes with it, however long the process lives."""

from lab_metrics import LabMetrics
from serving_lab import KIND, ServingLab, role, serving

from kohort.cluster import kinds


async def bring_up(lab: ServingLab) -> None:
    await lab.apply(serving(role("prefill", replicas=2), role("decode", replicas=2)))
    await lab.run(60)
    assert len(lab.all(kinds.POD)) == 16


async def test_no_loss_is_kept_of_a_serving_whose_pods_have_gone_after_it(lab: ServingLab):
    await bring_up(lab)
    await lab.delete(KIND, "x", propagation="Background")
    await lab.until(lambda: not lab.all(kinds.POD))
    await lab.run(5)
    assert [len(controller.losses) for controller in lab.operator.controllers] == [0, 0]


async def test_metrics_forget_a_serving_though_no_scraper_comes(lab: ServingLab):
    metrics = LabMetrics(lab)
    await bring_up(lab)
    assert metrics.workloads == 1
    await lab.delete(KIND, "x", propagation="Background")
    await lab.until(lambda: not lab.all(kinds.POD))
    await lab.run(5)
    assert metrics.workloads == 0
