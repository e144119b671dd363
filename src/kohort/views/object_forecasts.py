"""
The forecast of an object whose workloads other controllers run, as people are shown it.

Pods and GPUs are those that its workloads ask for. A workload whose pods are
replaced in a step asks for the extra units of its ``maxSurge`` meanwhile: they count at the peak.

A workload that Kohort knows is counted by its own reading, a RayCluster by its groups, another by
its replicas and its pod template. Templates that a server has stored have more fields than those
that we write; within lists, which are written whole, such fields are no change.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from kohort.apis.amounts import resolve_amount
from kohort.apis.api import Api, InvalidWorkload, Snapshot
from kohort.apis.served import APIS
from kohort.cluster.objects import Kind, Object
from kohort.forecast.objects import ObjectMove, Objects, forecast_objects
from kohort.forecast.values import Ending
from kohort.model.workload import Workload
from kohort.views.forecasts import AmountView
from kohort.views.gpus import count_pod_gpus, count_template_gpus
from kohort.views.picture import Picture


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


Numbers = tuple[int, int]  # pods and GPUs
_SURGE = "25%"  # of a Deployment that does not say


def count_workloads(objects: Objects) -> Numbers:
    """Pods and GPUs that all workloads ask for."""
    return _add(_count(kind, obj) for kind, held in objects.items() for obj in held.values())


def count_extra(old: Objects, new: Objects) -> Numbers:
    """Pods and GPUs on top while workloads that are in both replace their pods."""
    return _add(
        _count_surge(kind, old[kind][name], obj)
        for kind, held in new.items()
        for name, obj in held.items()
        if name in old.get(kind, {})
    )


def _add(numbers: Iterator[Numbers]) -> Numbers:
    found = list(numbers)
    return sum(pods for pods, _ in found), sum(gpus for _, gpus in found)


def _find_api(kind: Kind) -> Api | None:
    return next((each for each in APIS if each.kind == kind and each.verbs), None)


def _count(kind: Kind, obj: Object) -> Numbers:
    api, spec = _find_api(kind), obj.get("spec") or {}
    if api is not None:
        return _count_known(api, obj)
    if "headGroupSpec" in spec:
        return _count_ray(spec)
    replicas = _find_replicas(kind, spec)
    return replicas, replicas * _count_template(spec)


def _find_replicas(kind: Kind, spec: Object) -> int:
    """The pods of a workload; one of ``apps`` that does not say has one, another none."""
    if not isinstance(spec.get("template"), dict):
        return 0
    return int(spec.get("replicas", 1 if kind.group == "apps" else 0))


def _count_template(holder: Object) -> int:
    return count_pod_gpus((holder.get("template") or {}).get("spec") or {})


def _count_ray(spec: Object) -> Numbers:
    """The head of a RayCluster, and its groups of workers."""
    workers = spec.get("workerGroupSpecs") or ()
    counts = [int(g.get("replicas", 1)) * int(g.get("numOfHosts") or 1) for g in workers]
    gpus = sum(n * _count_template(group) for n, group in zip(counts, workers, strict=True))
    return 1 + sum(counts), _count_template(spec["headGroupSpec"]) + gpus


def _read(api: Api, obj: Object) -> Workload | None:
    try:
        return api.read(Snapshot(root=obj, children={})).workload
    except (InvalidWorkload, KeyError):
        return None


def _count_known(api: Api, obj: Object) -> Numbers:
    workload = _read(api, obj)
    if workload is None:
        return 0, 0
    units = [(role, workload.groups * role.instances) for role in workload.roles]
    gpus = sum(count * count_template_gpus(api, obj, role.name) for role, count in units)
    return sum(count * role.size for role, count in units), gpus


def _count_surge(kind: Kind, old: Object, new: Object) -> Numbers:
    api = _find_api(kind)
    if api is not None:
        return _add(_list_known_surges(api, old, new))
    before, spec = old.get("spec") or {}, new.get("spec") or {}
    replicas = _find_replicas(kind, spec)
    if not replicas or not _differs(before.get("template"), spec["template"]):
        return 0, 0
    surge = _find_surge(spec, replicas)
    return surge, surge * _count_template(spec)


def _list_known_surges(api: Api, old: Object, new: Object) -> Iterator[Numbers]:
    workload = _read(api, new)
    assert api.verbs is not None
    if workload is None or _read(api, old) is None:
        return
    for role in workload.roles:
        before, after = (api.verbs.list_templates(each, role.name) for each in (old, new))
        if before and _differs(dict(before), dict(after)):
            surge = (role.rollout or workload.rollout).surge
            yield surge * role.size, surge * count_template_gpus(api, new, role.name)


def _find_surge(spec: Object, replicas: int) -> int:
    """The extra pods that a Deployment makes; a share is rounded up."""
    strategy = spec.get("strategy") or {}
    if strategy.get("type") == "Recreate":
        return 0
    value = (strategy.get("rollingUpdate") or {}).get("maxSurge", _SURGE)
    return resolve_amount(value, replicas, round_up=True)


def _differs(old: Any, new: Any, *, is_listed: bool = False) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        keys = new.keys() if is_listed else old.keys() | new.keys()
        return any(_differs(old.get(key), new.get(key), is_listed=is_listed) for key in keys)
    if isinstance(old, list) and isinstance(new, list):
        pairs = zip(old, new, strict=False)
        return len(old) != len(new) or any(_differs(a, b, is_listed=True) for a, b in pairs)
    return str(old) != str(new)
