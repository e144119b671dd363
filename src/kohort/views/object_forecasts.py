"""
The forecast of an object whose workloads other controllers run, as people are shown it.

Pods and GPUs are those that its workloads ask for (``workload_amounts``). A workload whose pods are
replaced in a step asks for the extra units of its ``maxSurge`` meanwhile: they count at the peak.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

from kohort.cluster.objects import Object
from kohort.forecast.objects import ObjectMove, forecast_objects
from kohort.forecast.values import Ending
from kohort.views.forecasts import AmountView
from kohort.views.picture import Picture
from kohort.views.workload_amounts import count_extra, count_workloads


@dataclass(frozen=True, slots=True)
class ObjectStepView:
    """The writes of one step, and what its workloads ask for when it is over."""

    number: int
    moves: tuple[ObjectMove, ...]
    pods: int
    gpus: int


@dataclass(frozen=True, slots=True)
class ObjectForecastView:
    """What will be written for an object if nothing fails."""

    kind: str
    namespace: str
    name: str
    reference: str
    strategy: str
    is_new: bool
    objects: int  # that exist in the end
    writes: int
    steps: tuple[ObjectStepView, ...]
    pods: AmountView
    gpus: AmountView
    ending: Ending


def forecast_delegated(picture: Picture) -> ObjectForecastView:
    """What will be written for the object of a picture; raises InvalidWorkload."""
    found = forecast_objects(picture.api, picture.sample.snapshot, picture.now)
    steps = tuple(
        ObjectStepView(step.number, step.moves, *count_workloads(step.objects))
        for step in found.steps
    )
    before, after = count_workloads(found.before), count_workloads(found.after)
    held = [found.before, *(step.objects for step in found.steps)]
    extra = [count_extra(old, new) for old, new in pairwise(held)]
    told = list(zip(steps, extra, strict=True))
    pods = _measure(before[0], [step.pods + more for step, (more, _) in told], after[0])
    gpus = _measure(before[1], [step.gpus + more for step, (_, more) in told], after[1])
    return ObjectForecastView(
        kind=picture.api.kind.name,
        namespace=picture.namespace,
        name=picture.name,
        reference=picture.reference,
        strategy=found.strategy,
        is_new=not any(found.before.values()),
        objects=sum(len(held) for held in found.after.values()),
        writes=sum(len(step.moves) for step in found.steps),
        steps=steps,
        pods=pods,
        gpus=gpus,
        ending=found.ending,
    )


def _measure(before: int, during: list[int], after: int) -> AmountView:
    peak = max((before, *during, after))
    return AmountView(before, peak, after, peak - max(before, after))


def choose_delegated(picture: Picture, root: Object) -> Picture:
    """The picture of the same object as it would be."""
    snapshot = replace(picture.sample.snapshot, root=root)
    return replace(picture, sample=replace(picture.sample, snapshot=snapshot))
