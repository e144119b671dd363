"""
The TPU slice of a LeaderWorkerSet's pod, read from the pod itself.

Hosts are named after pods, within the pod's own subdomain.
"""

from typing import Any

from kohort.apis.leaderworkerset import labels, names
from kohort.apis.ordinals import find_ordinal
from kohort.apis.tpu import HOSTS_MAX, Place, SliceMember, needs_variables, write_tpu_variables
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.cluster.quantities import find_whole

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
    size = _read_number(annotations_of(pod).get(labels.SUBGROUP_SIZE), "subgroup size", pod)
    _check_hosts(pod, size)
    if size < 1:
        raise UnreadableMember(f"the subgroup size of pod {name_of(pod)} is not above 0")
    return size, _read_number(labels_of(pod).get(labels.SUBGROUP_INDEX), "subgroup index", pod)


def _check_hosts(pod: Object, hosts: int) -> None:
    if hosts > HOSTS_MAX:
        raise UnreadableMember(
            f"pod {name_of(pod)} asks for TPUs in a group of {hosts} pods, and at most "
            f"{HOSTS_MAX} hosts can be listed"
        )


def _leader_and_index(pod: Object) -> tuple[str, int]:
    name = name_of(pod)
    worker = _read_number(labels_of(pod).get(labels.WORKER_INDEX), "worker index", pod)
    found = find_ordinal(name)
    if worker and found is None:
        raise UnreadableMember(f"parsing pod ordinal for pod {name}")
    return (found[0] if worker and found else name), worker


def _read_number(text: Any, what: str, pod: Object) -> int:
    number = find_whole(str(text))
    if number is None:
        shown = shorten(text)
        raise UnreadableMember(f"the {what} of pod {name_of(pod)} is not a number: {shown!r}")
    return number


def shorten(text: Any) -> Any:
    """A value for a message, shortened if it is a long text."""
    is_long = isinstance(text, str) and len(text) > _SHOWN_MAX
    return f"{text[:_SHOWN_MAX]}…" if is_long else text
