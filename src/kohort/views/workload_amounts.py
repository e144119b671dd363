"""
Pods and GPUs that workloads ask for, and those that they need on top while their pods are replaced.

A workload that Kohort knows is counted by its own reading, a RayCluster by its groups, another by
its replicas and its pod template. Templates that a server has stored have more fields than those
that we write; within lists, which are written whole, such fields are no change.
"""

from collections.abc import Iterator
from typing import Any

from kohort.apis.amounts import resolve_amount
from kohort.apis.api import Api, InvalidWorkload, Snapshot
from kohort.apis.served import APIS
from kohort.cluster.objects import Kind, Object
from kohort.forecast.objects import Objects
from kohort.model.workload import Workload
from kohort.views.gpus import count_pod_gpus, count_template_gpus

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
