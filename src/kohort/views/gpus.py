"""
GPUs of one unit, by role and revision: of pods that run, and of the templates for new ones.

What a unit of the target revision asks for is read from the template. What one of another
revision asks for is read from the pods of a unit that has all of them, since its template may be
gone; where no unit is complete, from the unit that asks for most. A resource is a GPU if its name
says so (``nvidia.com/gpu``, ``amd.com/gpu``, ``google.com/tpu`` …).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kohort.apis.api import Api
from kohort.cluster.objects import Object
from kohort.cluster.quantities import whole_units
from kohort.model.observed import Instance, Observed
from kohort.model.workload import Workload
from kohort.views.samples import Sample

_WORDS = ("gpu", "tpu", "npu", "mlu", "dcu")


def count_pod_gpus(spec: Mapping[str, Any]) -> int:
    """The GPUs that a pod with this spec asks for."""
    return sum(_count_asked(container) for container in spec.get("containers") or ())


def _count_asked(container: Mapping[str, Any]) -> int:
    resources = container.get("resources") or {}
    asked = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    return sum(_read(value) for name, value in asked.items() if _is_gpu(name))


def _is_gpu(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _WORDS


def _read(value: Any) -> int:
    try:
        return whole_units(value)
    except ValueError:
        return 0


def measure_gpus(
    api: Api, root: Object, sample: Sample, workload: Workload, observed: Observed
) -> dict[tuple[str, str], int]:
    """GPUs of one unit by role and revision; an empty revision is what new units ask for."""
    best: dict[tuple[str, str], tuple[bool, int]] = {}
    for role, unit in _list_outdated(workload, observed):
        key = (role, unit.revision)
        best[key] = max(best.get(key, (False, 0)), _count_unit(sample, unit))
    return {
        **{key: gpus for key, (_, gpus) in best.items()},
        **{(each.name, ""): count_template_gpus(api, root, each.name) for each in workload.roles},
    }


def _list_outdated(workload: Workload, observed: Observed) -> Iterator[tuple[str, Instance]]:
    """The units of other revisions than the template's, with their roles."""
    for group in observed.groups:
        is_old = workload.has_rollout and group.revision != workload.revision
        if not group.roles and group.revision != workload.revision:
            yield "", group
        for role in group.roles:
            units = (unit for unit in role.instances if is_old or unit.revision != role.revision)
            yield from ((role.role, unit) for unit in units)


def _count_unit(sample: Sample, unit: Instance) -> tuple[bool, int]:
    """Whether all members of a unit exist, and the GPUs that these ask for."""
    members = (sample.find_member(member.name) for member in unit.members if member.is_current)
    pods = [pod for pod in members if pod]
    gpus = sum(count_pod_gpus(pod.get("spec") or {}) for pod in pods)
    return len(pods) >= unit.size, gpus


def count_template_gpus(api: Api, root: Object, role: str) -> int:
    """The GPUs that a new unit of a role will ask for."""
    if api.verbs is None:
        return 0
    counts = api.verbs.count_pods(root, role)
    templates = api.verbs.list_templates(root, role)
    return sum(
        number * count_pod_gpus(templates[field].get("spec") or {})
        for field, number in counts.items()
        if field in templates
    )
