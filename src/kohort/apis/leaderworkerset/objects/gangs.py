"""
The intent of a group's gang, before a dialect renders it, and what its pods request.

A group belongs to the gang that its leader pod names, in the dialect of that pod, whatever
the operator's flags say now: a group never has two gang schedulers (lws#1075). Everything
comes from the spec at the leader's revision, except the topology, which is the current one.
Where workers are created only after their leader is ready, no subgroups are rendered: the
scheduler would wait for pods that wait for the leader.

Requests are counted as a scheduler counts them, in billionths, so that nothing is rounded before it
is added up. A sum is written in powers of 1024 if one of its parts is. An unreadable amount is not
counted: the API server refuses pods with it, and says why.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kohort.apis.api import Settings
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Intent, SubgroupKind
from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.admission.pods import SUBGROUP
from kohort.apis.leaderworkerset.objects.sets import as_pod
from kohort.apis.leaderworkerset.objects.templates import group_labels
from kohort.apis.leaderworkerset.spec import (
    LEADER_EXCLUDED,
    find_exclusive_topology,
    find_subgroup_policy,
    pod_specs_of,
    size_of,
    template_of,
)
from kohort.apis.requests import find_nanos, is_binary
from kohort.cluster.objects import (
    Object,
    annotations_of,
    labels_of,
    name_of,
    namespace_of,
    owner_reference,
)
from kohort.cluster.quantities import write_quantity
from kohort.model.placement import Gang
from kohort.placement.amounts import Amounts, sum_pod


def requests_nothing(spec: Object) -> bool:
    """Whether a pod has neither requests nor limits."""
    resources = [holder.get("resources") or {} for holder in _list_holders(spec)]
    return not any(found.get("requests") or found.get("limits") for found in resources)


def group_requests(lws: Object) -> dict[str, str]:
    """The requests of all pods of a group together."""
    template = template_of(lws)
    worker: Object = (template.get("workerTemplate") or {}).get("spec") or {}
    chosen = template.get("leaderTemplate")
    leader: Object = worker if chosen is None else chosen.get("spec") or {}
    total = sum_pod(leader, _read)
    for name, nanos in sum_pod(worker, _read).items():
        total[name] = total.get(name, 0) + (size_of(lws) - 1) * nanos
    binary = {*_find_binary(leader), *_find_binary(worker)}
    return {name: write_quantity(nanos, is_binary=name in binary) for name, nanos in total.items()}


def _list_holders(spec: Object) -> list[Object]:
    """The pod spec and its containers: all that may have resources."""
    return [spec, *(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _read(amounts: Mapping[str, Any] | None) -> Amounts:
    return {name: find_nanos(value) for name, value in (amounts or {}).items()}


def _find_binary(spec: Object) -> list[str]:
    """The resources whose requests are written in powers of 1024."""
    asked = [(holder.get("resources") or {}).get("requests") for holder in _list_holders(spec)]
    lists = [amounts or {} for amounts in (*asked, spec.get("overhead"))]
    return [name for held in lists for name, value in held.items() if is_binary(value)]


def choose_dialect(lws: Object, settings: Settings) -> Dialect | None:
    """The dialect of gangs for new groups; None: they get no gang."""
    return settings.find_dialect(annotations_of(lws).get(labels.GANG, ""))


def find_dialect(
    settings: Settings, marks: Mapping[str, str], notes: Mapping[str, str]
) -> Dialect | None:
    """The dialect of the gang of ours that a pod with these labels and annotations joined."""
    group, key = marks.get(labels.GROUP_INDEX, ""), marks.get(labels.REVISION, "")
    name = names.pod_group_name(marks.get(labels.NAME, ""), group, key)
    joined = [d for d in settings.gangs if d.find_gang(marks, notes) == name]
    # Two dialects may read the same key: then the pod's annotation names the right one.
    chosen = notes.get(labels.GANG)
    return next((d for d in joined if d.name == chosen), joined[0] if joined else None)


def make_intent(
    lws_at_revision: Object, leader_pod: Object, gang: Gang, dialect: Dialect
) -> Intent:
    """The gang of one group, from the spec at the leader's revision."""
    marks = group_labels(lws_at_revision, leader_pod)
    index, key = marks[labels.GROUP_INDEX], marks[labels.REVISION]
    joined = dialect.find_gang(labels_of(leader_pod), annotations_of(leader_pod))
    given = annotations_of(lws_at_revision)
    specs = pod_specs_of(lws_at_revision)
    return Intent(
        namespace=namespace_of(lws_at_revision),
        name=joined or names.pod_group_name(name_of(lws_at_revision), index, key),
        gang=gang,
        owner=owner_reference(as_pod(leader_pod) if dialect.belongs_to_leader else lws_at_revision),
        labels={k: v for k, v in marks.items() if k != labels.GROUP_KEY},
        annotations=given,
        requests=group_requests(lws_at_revision),
        queue=dialect.find_queue(labels_of(lws_at_revision), given),
        priorities=_once(spec.get("priorityClassName") for spec in specs),
        schedulers=_once(spec.get("schedulerName") for spec in specs),
        parts=find_parts(lws_at_revision, marks) if gang.minimum == gang.size else (),
        exclusive=find_exclusive_topology(lws_at_revision) or "",
        shapes=1 if specs[0] == specs[-1] else 2,
    )


def _once(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value or "" for value in values))


def find_parts(lws: Object, marks: Mapping[str, str]) -> tuple[SubgroupKind, ...]:
    """The subgroups of a group: all of one size, except that the first may also hold the leader."""
    policy = find_subgroup_policy(lws) or {}
    size, each = size_of(lws), policy.get("subGroupSize") or 0
    if each < 1:
        return ()
    is_excluded = policy.get("subGroupPolicyType") == LEADER_EXCLUDED
    is_even = size % each == 0
    count = (size - 1) // each if is_excluded or not is_even else size // each
    if count < 1:
        return ()
    # Workers in subgroups of their own are numbered by worker index, which starts at 1.
    first = 1 if is_excluded and is_even else 0
    selector = {key: marks[key] for key in (labels.NAME, labels.GROUP_INDEX)}
    extra = 0 if is_excluded or is_even else 1
    return (
        SubgroupKind(
            SUBGROUP, labels.SUBGROUP_INDEX, each, count, selector, first=first, extra=extra
        ),
    )
