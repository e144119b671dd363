"""
The fault that changes the load which an autoscaler of the workload sees.

An annotation of the HorizontalPodAutoscaler holds the metric ``load``, and every ten of it ask for
one group. The first such fault creates the autoscaler. Seeds do not draw it, since it edits the
scale as other faults do; scenarios may have it.
"""

from kohort.cluster.kinds import AUTOSCALER
from kohort.cluster.objects import Kind, Object
from kohort.simulation.harness import Harness
from kohort.simulation.scenario import NAME, NAMESPACE, Fault
from kohort.simulator.builtins.autoscalers.metrics import METRIC

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
