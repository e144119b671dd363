"""
Pod groups: a gang scheduler places all pods of a group, or none.

A group that starts its workers only when the leader is ready cannot wait for
all, so its gang is the leader alone, though room is asked for everybody. What
a pod asks for is counted as the scheduler counts it: containers that run side
by side are added up, those that run before them need only fit.
"""

from collections.abc import Iterable, Mapping

from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.rendering.sets import as_pod
from kohort.apis.leaderworkerset.rendering.templates import group_labels
from kohort.apis.leaderworkerset.spec import (
    LEADER_READY,
    size_of,
    startup_policy_of,
    template_of,
)
from kohort.cluster.objects import (
    Kind,
    Object,
    annotations_of,
    name_of,
    namespace_of,
    owner_reference,
)
from kohort.cluster.quantities import parse_quantity, write_quantity

POD_GROUP = Kind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups")

_POD_LEVEL = ("cpu", "memory", "hugepages-")

# Amounts in billionths, and whether they are written in powers of 1024.
Amounts = dict[str, tuple[int, bool]]


def is_in_gang(marks: Mapping[str, str], notes: Mapping[str, str]) -> bool:
    """Whether the pod with these labels and annotations was admitted into a gang of ours."""
    group, key = marks.get(labels.GROUP_INDEX, ""), marks.get(labels.REVISION, "")
    name = names.pod_group_name(marks.get(labels.NAME, ""), group, key)
    return notes.get(labels.POD_GROUP) == name


def pod_group(lws_at_revision: Object, leader_pod: Object) -> Object:
    """The gang of one group, from the spec as it was at the leader's revision."""
    marks = group_labels(lws_at_revision, leader_pod)
    index, key = marks[labels.GROUP_INDEX], marks[labels.REVISION]
    own_name = names.pod_group_name(name_of(lws_at_revision), index, key)
    given = annotations_of(lws_at_revision)
    queue = given.get(labels.QUEUE)
    waits = startup_policy_of(lws_at_revision) == LEADER_READY
    return {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.name,
        "metadata": {
            "name": annotations_of(leader_pod).get(labels.POD_GROUP) or own_name,
            "namespace": namespace_of(lws_at_revision),
            "labels": {k: v for k, v in marks.items() if k != labels.GROUP_KEY},
            "annotations": {k: v for k, v in given.items() if k.startswith(labels.VOLCANO_PREFIX)},
            "ownerReferences": [owner_reference(as_pod(leader_pod))],
        },
        "spec": {
            "minMember": 1 if waits else size_of(lws_at_revision),
            "minResources": group_requests(lws_at_revision),
            **({"queue": queue} if queue else {}),
        },
    }


def group_requests(lws: Object) -> dict[str, str]:
    """What all pods of a group ask for together."""
    template = template_of(lws)
    worker = _pod_requests((template.get("workerTemplate") or {}).get("spec") or {})
    chosen = template.get("leaderTemplate")
    leader = worker if chosen is None else _pod_requests(chosen.get("spec") or {})
    others = {name: (n * (size_of(lws) - 1), binary) for name, (n, binary) in worker.items()}
    total = _sum([leader, others])
    return {name: write_quantity(n, is_binary=binary) for name, (n, binary) in total.items()}


def _pod_requests(spec: Object) -> Amounts:
    containers = [_requests(container) for container in spec.get("containers") or ()]
    beside: list[Amounts] = []
    needed: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = _requests(container)
        needed = _larger(needed, _sum([*beside, own]))
        if container.get("restartPolicy") == "Always":
            beside.append(own)
    needed = _larger(_sum([*containers, *beside]), needed)
    whole = {k: v for k, v in _requests(spec).items() if k.startswith(_POD_LEVEL)}
    return _sum([{**needed, **whole}, _read(spec.get("overhead"))])


def _requests(holder: Object) -> Amounts:
    return _read((holder.get("resources") or {}).get("requests"))


def _read(amounts: Object | None) -> Amounts:
    return {
        name: (parse_quantity(value), str(value).endswith("i"))
        for name, value in (amounts or {}).items()
    }


def _sum(parts: Iterable[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        for name, (nanos, is_binary) in part.items():
            # The first amount that is not zero decides how the sum is written.
            before, was_binary = total.get(name, (0, is_binary))
            total[name] = (before + nanos, was_binary if before else is_binary)
    return total


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return {**one, **{k: v for k, v in other.items() if v[0] > one.get(k, (-1, False))[0]}}
