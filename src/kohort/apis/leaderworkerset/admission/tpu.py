"""
The variables by which the hosts of one TPU slice find each other.

Only hosts that hold TPUs are listed, so the list depends on whether the leader
requests them. Without subgroups every TPU container of the pod takes part, each
on a port of its own; with subgroups a slice is one subgroup, and only the first
TPU container of the pod takes part. A user who sets the host names or the id in
that first container has taken the matter into their own hands.
"""

from dataclasses import dataclass
from typing import Any

from kohort.apis.leaderworkerset import labels, names
from kohort.apis.ordinals import find_ordinal
from kohort.cluster.objects import Object, annotations_of, labels_of, name_of
from kohort.cluster.quantities import find_whole, parse_quantity

DEFAULT_PORT = 8476
# Every host stands in a variable of every pod: with more, no pod would fit into the API server.
HOSTS_MAX = 10_000
_SHOWN_MAX = 60

# A container's place in the pod spec: the list it stands in, and where.
Place = tuple[str, int]


class UnreadableMember(Exception):
    """A pod whose place in its slice cannot be told; the text says why."""


@dataclass(frozen=True, slots=True)
class _Slice:
    """The hosts that form a slice, in order, and where this pod stands among them."""

    leader: str
    hosts: list[str]
    position: int


def requests_tpus(pod: Object) -> bool:
    """Whether any container of the pod asks for TPUs."""
    return bool(_tpu_places(pod.get("spec") or {}))


def tpu_variables(pod: Object, size: int) -> dict[Place, list[Object]]:
    """The variables to append to each container; nothing if the pod needs none."""
    spec: Object = pod.get("spec") or {}
    places = _tpu_places(spec)
    if not places or _names(_container(spec, places[0])) & {
        labels.TPU_WORKER_HOSTNAMES,
        labels.TPU_WORKER_ID,
    }:
        return {}
    _check_hosts(pod, size)
    if labels.SUBGROUP_SIZE in annotations_of(pod):
        places = places[:1]
        members = _subgroup_slice(pod)
    else:
        members = _group_slice(pod, size)
    return _write_variables(members, places, [_find_port(_container(spec, p)) for p in places])


def _check_hosts(pod: Object, hosts: int) -> None:
    if hosts > HOSTS_MAX:
        raise UnreadableMember(
            f"pod {name_of(pod)} asks for TPUs in a group of {hosts} pods, and at most "
            f"{HOSTS_MAX} hosts can be listed"
        )


def _write_variables(
    members: _Slice, places: list[Place], ports: list[str | None]
) -> dict[Place, list[Object]]:
    numbered = [port if port is not None else str(DEFAULT_PORT + i) for i, port in enumerate(ports)]
    hosts = ",".join(host for host in members.hosts for _ in places)
    addresses = ",".join(f"{host}:{port}" for host in members.hosts for port in numbered)
    result: dict[Place, list[Object]] = {}
    for index, place in enumerate(places):
        values = {
            labels.TPU_WORKER_HOSTNAMES: hosts,
            labels.TPU_WORKER_ID: str(members.position * len(places) + index),
            labels.TPU_NAME: members.leader,
            labels.TPU_PROCESS_ADDRESSES: addresses,
        }
        if ports[index] is None:
            values[labels.TPU_PROCESS_PORT] = numbered[index]
        result[place] = [{"name": name, "value": value} for name, value in values.items()]
    return result


def _group_slice(pod: Object, size: int) -> _Slice:
    leader, worker = _leader_and_index(pod)
    has_leader = worker == 0 or _leader_takes_part(pod)
    hosts = [_host(leader, pod)] if has_leader else []
    hosts += [_host(names.worker_name(leader, k), pod) for k in range(1, size)]
    return _Slice(leader, hosts, worker if has_leader else worker - 1)


def _subgroup_slice(pod: Object) -> _Slice:
    leader, worker = _leader_and_index(pod)
    size = _read_number(annotations_of(pod).get(labels.SUBGROUP_SIZE), "subgroup size", pod)
    _check_hosts(pod, size)
    if size < 1:
        raise UnreadableMember(f"the subgroup size of pod {name_of(pod)} is not above 0")
    subgroup = _read_number(labels_of(pod).get(labels.SUBGROUP_INDEX), "subgroup index", pod)
    position = worker % size
    if worker and not _leader_takes_part(pod):
        position, subgroup = (worker - 1) % size, (worker - 1) // size
    # Workers are counted from one, and the leader pushes all others one place back.
    first = size * subgroup + 1
    last = first + size - 1
    hosts: list[str] = []
    if worker == 0 or (_leader_takes_part(pod) and subgroup == 0):
        hosts, last = [_host(leader, pod)], last - 1
    elif _leader_takes_part(pod):
        first, last = first - 1, last - 1
    hosts += [_host(names.worker_name(leader, k), pod) for k in range(first, last + 1)]
    return _Slice(leader, hosts, position)


def _leader_and_index(pod: Object) -> tuple[str, int]:
    name = name_of(pod)
    worker = _read_number(labels_of(pod).get(labels.WORKER_INDEX), "worker index", pod)
    found = find_ordinal(name)
    if worker and found is None:
        raise UnreadableMember(f"parsing pod ordinal for pod {name}")
    return (found[0] if worker and found else name), worker


def _leader_takes_part(pod: Object) -> bool:
    return annotations_of(pod).get(labels.LEADER_REQUESTS_TPUS) == "true"


def _host(name: str, pod: Object) -> str:
    return f"{name}.{(pod.get('spec') or {}).get('subdomain') or ''}"


def _read_number(text: Any, what: str, pod: Object) -> int:
    number = find_whole(str(text))
    if number is None:
        shown = shorten(text)
        raise UnreadableMember(f"the {what} of pod {name_of(pod)} is not a number: {shown!r}")
    return number


def shorten(text: Any) -> Any:
    """A value for a message: the start of it if it is a long text."""
    is_long = isinstance(text, str) and len(text) > _SHOWN_MAX
    return f"{text[:_SHOWN_MAX]}…" if is_long else text


def _tpu_places(spec: Object) -> list[Place]:
    return [
        (group, index)
        for group in ("containers", "initContainers")
        for index, container in enumerate(spec.get(group) or ())
        if _requests_tpus(container)
    ]


def _requests_tpus(container: Object) -> bool:
    resources = container.get("resources") or {}
    for kind in ("limits", "requests"):
        amounts = resources.get(kind) or {}
        if labels.TPU_RESOURCE in amounts:
            try:
                return parse_quantity(amounts[labels.TPU_RESOURCE]) != 0
            except ValueError:
                return False  # The API server refuses it.
    return False


def _container(spec: Object, place: Place) -> Object:
    found: Object = spec[place[0]][place[1]]
    return found


def _names(container: Object) -> set[str]:
    return {variable.get("name", "") for variable in container.get("env") or ()}


def _find_port(container: Object) -> str | None:
    return next(
        (
            variable.get("value") or ""
            for variable in container.get("env") or ()
            if variable.get("name") == labels.TPU_PROCESS_PORT
        ),
        None,
    )
