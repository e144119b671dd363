"""
What the webhook adds to a pod of a LeaderWorkerSet when it is created.

The StatefulSet controller makes all pods from one template, so the webhook adds what differs
between them: indices, keys, exclusive placement, variables. Each step first checks whether
its work is done, so a second pass changes nothing. The given pod is never changed; parts
that do not differ are shared.

Pods of other workloads may have LeaderWorkerSet's labels, too: plugin `lws` of ModelServing writes
them. Their own controller has given them their place, so the webhook leaves them alone.

The TPU slice of a pod is read from the pod itself. Its hosts are named after pods, within the
pod's own subdomain.
"""

from dataclasses import dataclass, field
from typing import Any

from kohort.apis.affinity import add_exclusive_terms
from kohort.apis.gangs.dialect import Dialect
from kohort.apis.gangs.intent import Membership, Tiers
from kohort.apis.leaderworkerset import labels, names
from kohort.apis.leaderworkerset.spec import LEADER_EXCLUDED, UNIQUE_PER_REPLICA
from kohort.apis.ordinals import find_ordinal
from kohort.apis.subgroups import subgroup_index
from kohort.apis.topology import find_pack
from kohort.apis.tpu import HOSTS_MAX, Place, SliceMember, needs_variables, write_tpu_variables
from kohort.cluster.kinds import POD, STATEFUL_SET
from kohort.cluster.numbers import find_count
from kohort.cluster.objects import (
    Object,
    annotations_of,
    find_controller,
    labels_of,
    name_of,
    namespace_of,
)

_SHOWN_MAX = 60


class UnreadableMember(Exception):
    """The place of a pod in its slice cannot be read; the text says why."""


def tpu_variables(pod: Object, size: int) -> dict[Place, list[Object]]:
    """The TPU variables to append to each container; empty if the pod requests no TPUs."""
    spec: Object = pod.get("spec") or {}
    if not needs_variables(spec):
        return {}
    _check_hosts(pod, size)
    leader, worker = _leader_and_index(pod)
    subdomain = spec.get("subdomain") or ""
    subgroup_size, subgroup = _read_subgroup(pod)

    def host(index: int) -> str:
        return f"{names.worker_name(leader, index) if index else leader}.{subdomain}"

    has_leader = annotations_of(pod).get(labels.LEADER_REQUESTS_TPUS) == "true"
    member = SliceMember(leader, worker, size, has_leader, host, subgroup_size, subgroup)
    return write_tpu_variables(spec, member)


def _read_subgroup(pod: Object) -> tuple[int, int]:
    """The size of the pod's subgroup and its ordinal; 0 and 0 if there are no subgroups."""
    if labels.SUBGROUP_SIZE not in annotations_of(pod):
        return 0, 0
    size = _read_index(annotations_of(pod).get(labels.SUBGROUP_SIZE), "subgroup size", pod)
    _check_hosts(pod, size)
    if size < 1:
        raise UnreadableMember(f"the subgroup size of pod {name_of(pod)} is not above 0")
    return size, _read_index(labels_of(pod).get(labels.SUBGROUP_INDEX), "subgroup index", pod)


def _check_hosts(pod: Object, hosts: int) -> None:
    if hosts > HOSTS_MAX:
        raise UnreadableMember(
            f"pod {name_of(pod)} asks for TPUs in a group of {hosts} pods, and at most "
            f"{HOSTS_MAX} hosts can be listed"
        )


def _leader_and_index(pod: Object) -> tuple[str, int]:
    name = name_of(pod)
    worker = _read_index(labels_of(pod).get(labels.WORKER_INDEX), "worker index", pod)
    found = find_ordinal(name)
    if worker and found is None:
        raise UnreadableMember(f"parsing pod ordinal for pod {name}")
    return (found[0] if worker and found else name), worker


def _read_index(text: Any, what: str, pod: Object) -> int:
    number = find_count(str(text))
    if number is None:
        shown = shorten(text)
        raise UnreadableMember(f"the {what} of pod {name_of(pod)} is not a number: {shown!r}")
    return number


def shorten(text: Any) -> Any:
    """A value for a message, shortened if it is a long text."""
    is_long = isinstance(text, str) and len(text) > _SHOWN_MAX
    return f"{text[:_SHOWN_MAX]}…" if is_long else text


@dataclass(frozen=True, slots=True)
class PodRefused:
    """The reason for which a pod is refused."""

    reason: str

    def __str__(self) -> str:
        return self.reason


SUBGROUP = "subgroup"
# The kinds that own pods of a set: on carrier `pods` the set itself, and leaders their workers.
_MAKERS = (STATEFUL_SET.name, labels.KIND.name, POD.name)


class _Refused(Exception):
    """Carries the reason of a refusal up to ``mutate_pod``."""


@dataclass(frozen=True, slots=True)
class Joining:
    """The dialect of the gang that pods join, and the tiers it knows."""

    dialect: Dialect
    tiers: Tiers = field(default_factory=Tiers)


def mutate_pod(
    pod: Object, *, namespace: str = "", gang: Joining | None = None
) -> Object | PodRefused:
    """The pod with labels and variables of its place; other pods are returned unchanged."""
    if labels.NAME not in labels_of(pod) or _is_of_another(pod):
        return pod
    try:
        return _mutate(pod, namespace_of(pod) or namespace, gang)
    except (_Refused, UnreadableMember) as refusal:
        return PodRefused(str(refusal))


def _is_of_another(pod: Object) -> bool:
    """Whether a controller made the pod that makes none for LeaderWorkerSets."""
    owner = find_controller(pod)
    return owner is not None and owner.get("kind") not in _MAKERS


def is_leader(pod: Object) -> bool:
    """Whether the pod is the leader of its group."""
    return labels_of(pod).get(labels.WORKER_INDEX) == "0"


def _mutate(pod: Object, namespace: str, gang: Joining | None) -> Object:
    size = _read_size(pod)
    draft = _open(pod)
    if is_leader(pod):
        _mark_leader(draft, namespace)
    else:
        _mark_worker(draft, size)
    if gang is not None:
        draft = _join(draft, size, gang)
    _add_variables(draft, tpu_variables(draft, size), namespace)
    return draft


def _open(pod: Object) -> Object:
    """A copy whose labels and spec may be changed."""
    metadata: Object = pod.get("metadata") or {}
    return {
        **pod,
        "metadata": {**metadata, "labels": dict(metadata.get("labels") or {})},
        "spec": dict(pod.get("spec") or {}),
    }


def _read_size(pod: Object) -> int:
    text = annotations_of(pod).get(labels.SIZE)
    if text is None:
        raise _Refused(f"size annotation is unexpectedly missing for pod {name_of(pod)}")
    return _read_number(text, "size annotation", pod)


def _read_number(text: str, what: str, pod: Object) -> int:
    number = find_count(text)
    if number is None:
        shown = shorten(text)
        raise _Refused(f"the {what} of pod {name_of(pod)} is not a number: {shown!r}")
    return number


def _ordinal_of(pod: Object) -> int:
    found = find_ordinal(name_of(pod))
    if found is None:
        raise _Refused(f"parsing pod ordinal for pod {name_of(pod)}")
    return found[1]


def _mark_leader(pod: Object, namespace: str) -> None:
    name, own, annotations = name_of(pod), labels_of(pod), annotations_of(pod)
    if labels.GROUP_INDEX not in own:
        own[labels.GROUP_INDEX] = str(_ordinal_of(pod))
    if annotations.get(labels.SUBDOMAIN_POLICY) == UNIQUE_PER_REPLICA:
        pod["spec"]["subdomain"] = name
    key = own.setdefault(labels.GROUP_KEY, names.group_key(namespace, name))
    _place_alone(pod, labels.EXCLUSIVE_TOPOLOGY, labels.GROUP_KEY, key)
    if annotations.get(labels.SUBGROUP_POLICY_TYPE) != LEADER_EXCLUDED:
        _join_subgroup(pod, name, 0)


def _mark_worker(pod: Object, size: int) -> None:
    worker, annotations = _ordinal_of(pod), annotations_of(pod)
    labels_of(pod)[labels.WORKER_INDEX] = str(worker)
    text = annotations.get(labels.SUBGROUP_SIZE)
    if text is None:
        return
    subgroup_size = _read_number(text, "subgroup size annotation", pod)
    if subgroup_size < 1:
        raise _Refused(f"the subgroup size annotation of pod {name_of(pod)} is not above 0")
    leader = annotations.get(labels.LEADER_NAME, "")
    _join_subgroup(pod, leader, subgroup_index(size, subgroup_size, worker))


def _join_subgroup(pod: Object, leader: str, index: int) -> None:
    own = labels_of(pod)
    if labels.SUBGROUP_SIZE not in annotations_of(pod) or own.get(labels.SUBGROUP_INDEX):
        return
    key = names.subgroup_key(leader, str(index))
    own.update({labels.SUBGROUP_INDEX: str(index), labels.SUBGROUP_KEY: key})
    _place_alone(pod, labels.SUBGROUP_EXCLUSIVE_TOPOLOGY, labels.SUBGROUP_KEY, key)


def _place_alone(pod: Object, annotation: str, label: str, key: str) -> None:
    topology = annotations_of(pod).get(annotation)
    if topology is not None:
        spec = pod["spec"]
        spec["affinity"] = add_exclusive_terms(spec.get("affinity"), topology, label, key)


def _join(pod: Object, size: int, gang: Joining) -> Object:
    dialect = gang.dialect
    marked = dialect.mark(pod, _find_membership(pod, size, dialect), gang.tiers)
    if dialect.name == labels.UPSTREAM_GANG:
        return marked
    # Dialects may share a key, or mark no metadata: so the pod records which one it joined.
    notes = {**annotations_of(marked), labels.GANG: dialect.name}
    return {**marked, "metadata": {**marked["metadata"], "annotations": notes}}


def _find_membership(pod: Object, size: int, dialect: Dialect) -> Membership:
    own, notes = labels_of(pod), annotations_of(pod)
    group, key = own.get(labels.GROUP_INDEX, ""), own.get(labels.REVISION, "")
    index, subgroup = own.get(labels.WORKER_INDEX, "0"), own.get(labels.SUBGROUP_INDEX)
    return Membership(
        gang=names.pod_group_name(own[labels.NAME], group, key),
        size=size,
        index=_read_number(index, "worker index label", pod),
        queue=dialect.find_queue(own, notes),
        part=f"{SUBGROUP}-{subgroup}" if subgroup else "",
        pack=find_pack(notes.get(labels.NETWORK_TOPOLOGY, "")),
    )


def _add_variables(pod: Object, extra: dict[Place, list[Object]], namespace: str) -> None:
    spec, first = pod["spec"], _identity_variables(pod, namespace)
    for group in ("containers", "initContainers"):
        if spec.get(group):
            spec[group] = [
                {**container, "env": _merge(first, container.get("env"), extra.get((group, index)))}
                for index, container in enumerate(spec[group])
            ]


def _identity_variables(pod: Object, namespace: str) -> list[Object]:
    own, name = labels_of(pod), name_of(pod)
    group = own.get(labels.GROUP_INDEX)
    if group is None:
        raise _Refused(
            "Failure constructing environment variables, no group index label found for pod "
            f"{namespace}/{name}"
        )
    subdomain = pod["spec"].get("subdomain") or ""
    address = names.leader_address(own[labels.NAME], group, subdomain, namespace)
    values = {
        labels.LEADER_ADDRESS_VARIABLE: address,
        labels.GROUP_SIZE_VARIABLE: annotations_of(pod)[labels.SIZE],
        labels.WORKER_INDEX_VARIABLE: own[labels.WORKER_INDEX],
    }
    return [{"name": name, "value": value} for name, value in values.items()]


def _merge(*lists: list[Object] | None) -> list[Object]:
    """All variables in order, each name once: earlier ones can be referred to by later ones."""
    merged: dict[str, Object] = {}
    for variables in lists:
        for variable in variables or ():
            merged.setdefault(variable.get("name", ""), variable)
    return list(merged.values())
