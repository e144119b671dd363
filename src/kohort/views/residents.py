"""
Residents: which workload, group and gang each pod of a cluster belongs to, and the GPUs it takes.

The map of a cluster names pods; this says whose they are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kohort.apis.gangs.dialect import Dialect
from kohort.placement.raw_objects import find_node
from kohort.views.gpus import count_pod_gpus
from kohort.views.picture import Picture


@dataclass(frozen=True, slots=True)
class Resident:
    """One pod of a workload."""

    namespace: str
    pod: str
    workload: str  # as ``-o name`` writes it
    group: int | None  # None: the workload is the only group
    gang: str = ""  # the name of its gang; empty: it is placed by itself


@dataclass(frozen=True, slots=True)
class GpuUse:
    """The GPUs of the members of a workload."""

    asked: int  # by all members that exist
    in_use: int  # by those that have a node


def list_residents(pictures: Iterable[Picture], dialects: Sequence[Dialect]) -> Iterator[Resident]:
    """The members of workloads, with the names of their gangs."""
    for picture in pictures:
        if picture.reading is None:
            continue
        kind = picture.api.kind
        workload = f"{kind.name.lower()}.{kind.group}/{picture.name}"
        gangs = dict(_find_gangs(picture, dialects))
        for group in picture.reading.observed.groups:
            for member in group.members:
                gang = gangs.get(member.name, "")
                ordinal = picture.tell_group(group.ordinal)
                yield Resident(picture.namespace, member.name, workload, ordinal, gang)


def _find_gangs(picture: Picture, dialects: Sequence[Dialect]) -> Iterator[tuple[str, str]]:
    for child in picture.sample.snapshot.all(picture.api.members):
        metadata = child.metadata
        labels, annotations = metadata.labels or {}, metadata.annotations or {}
        found = (dialect.find_gang(labels, annotations) for dialect in dialects)
        if name := next(filter(None, found), ""):
            yield metadata.name, name


def count_gpus(picture: Picture) -> GpuUse:
    """The GPUs that the members of a workload ask for, and those that they have."""
    asked = in_use = 0
    for name in picture.sample.members:
        pod = picture.sample.find_member(name) or {}
        gpus = count_pod_gpus(pod.get("spec") or {})
        asked += gpus
        in_use += gpus if find_node(pod) else 0
    return GpuUse(asked, in_use)
