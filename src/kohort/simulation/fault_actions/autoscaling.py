"""
What an autoscaler of the workload sees: somebody says how much load there is.

The first time makes the autoscaler, one group for every ten of the metric ``load``. Seeds do
not draw it, since what it does to the workload is what edits of the scale do; scenarios may.
"""

from kohort.cluster.objects import Kind, Object
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import NAME, NAMESPACE, Fault
from kohort.simulator.builtins.autoscalers.metrics import METRIC
from kohort.simulator.kinds import AUTOSCALER

GROUPS_MAX = 4
_LOAD = f"{METRIC}load"
_TARGET = {"type": "AverageValue", "averageValue": "10"}


async def _set_metric(harness: Harness, fault: Fault) -> None:
    said = {"annotations": {_LOAD: fault.value}}
    target = harness.api.target(AUTOSCALER, NAMESPACE, NAME)
    if harness.api.context.find(target) is None:
        await harness.create(AUTOSCALER, _make_autoscaler(harness.simulated.kind, said))
    else:
        await harness.patch(AUTOSCALER, NAME, {"metadata": said})


def _make_autoscaler(kind: Kind, said: Object) -> Object:
    target = {"apiVersion": kind.api_version, "kind": kind.name, "name": NAME}
    load = {"metric": {"name": "load"}, "target": _TARGET}
    metrics = [{"type": "External", "external": load}]
    spec = {"maxReplicas": GROUPS_MAX, "scaleTargetRef": target, "metrics": metrics}
    return {"metadata": {"name": NAME, **said}, "spec": spec}


ACTIONS = {"metric": _set_metric}
