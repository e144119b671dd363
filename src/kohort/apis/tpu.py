"""
The variables by which the hosts of one TPU slice find each other.

Only hosts that hold TPUs are listed, so the list depends on whether the leader requests them.
Without subgroups every TPU container of the pod takes part, each on a port of its own; with
subgroups a slice is one subgroup, and only the first TPU container of the pod takes part. If the
user sets the host names or the id in that first container, we add no variables. Each API decides
how its hosts are named.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kohort.apis.keys import UPSTREAM, VARIABLE, Key
from kohort.cluster.objects import Object
from kohort.cluster.quantities import parse_quantity

WORKER_HOSTNAMES = "TPU_WORKER_HOSTNAMES"
WORKER_ID = "TPU_WORKER_ID"
NAME = "TPU_NAME"
PROCESS_ADDRESSES = "TPU_PROCESS_ADDRESSES"
PROCESS_PORT = "TPU_PROCESS_PORT"
RESOURCE = "google.com/tpu"
KEYS = (
    Key(WORKER_HOSTNAMES, VARIABLE, "containers with TPUs", "hosts of the slice", UPSTREAM),
    Key(WORKER_ID, VARIABLE, "containers with TPUs", "the host's place in the slice", UPSTREAM),
    Key(NAME, VARIABLE, "containers with TPUs", "the leader, or entry, of the slice", UPSTREAM),
    Key(PROCESS_ADDRESSES, VARIABLE, "containers with TPUs", "hosts with ports", UPSTREAM),
    Key(PROCESS_PORT, VARIABLE, "containers with TPUs", "the container's own port", UPSTREAM),
)
DEFAULT_PORT = 8476
# Every pod has a variable that lists all hosts: with more, the API server would refuse the pod.
HOSTS_MAX = 10_000

# A container's place in the pod spec: the name of its list, and its index.
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class SliceMember:
    """A pod of a slice: 0 is the leader, workers count from 1."""

    leader: str
    index: int
    size: int  # pods of the whole group
    has_leader: bool  # whether the leader holds TPUs
    host: Callable[[int], str]  # the host name of a member
    subgroup_size: int = 0  # 0: the slice is the whole group
    subgroup: int = 0


@dataclass(frozen=True, slots=True)
class _Slice:
    """The hosts of a slice, in order, and the position of this pod among them."""

    hosts: list[str]
    position: int


def requests_tpus(spec: Object) -> bool:
    """Whether any container of a pod spec requests TPUs."""
    return bool(find_tpu_containers(spec))


def needs_variables(spec: Object) -> bool:
    """Whether a pod with this spec gets the variables of its slice."""
    places = find_tpu_containers(spec)
    given = _names(_container(spec, places[0])) if places else set()
    return bool(places) and not given & {WORKER_HOSTNAMES, WORKER_ID}


def write_tpu_variables(spec: Object, member: SliceMember) -> dict[Place, list[Object]]:
    """The variables to append to each container of a pod in a slice."""
    places = find_tpu_containers(spec)
    if member.subgroup_size:
        places = places[:1]
    found = _find_subgroup(member) if member.subgroup_size else _find_group(member)
    ports = [_find_port(_container(spec, place)) for place in places]
    numbered = [port if port is not None else str(DEFAULT_PORT + i) for i, port in enumerate(ports)]
    hosts = ",".join(host for host in found.hosts for _ in places)
    addresses = ",".join(f"{host}:{port}" for host in found.hosts for port in numbered)
    result: dict[Place, list[Object]] = {}
    for index, place in enumerate(places):
        values = {
            WORKER_HOSTNAMES: hosts,
            WORKER_ID: str(found.position * len(places) + index),
            NAME: member.leader,
            PROCESS_ADDRESSES: addresses,
        }
        if ports[index] is None:
            values[PROCESS_PORT] = numbered[index]
        result[place] = [{"name": name, "value": value} for name, value in values.items()]
    return result


def find_tpu_containers(spec: Object) -> list[Place]:
    """The containers of a pod spec that request TPUs."""
    return [
        (group, index)
        for group in ("containers", "initContainers")
        for index, container in enumerate(spec.get(group) or ())
        if _requests_tpus(container)
    ]


def _find_group(member: SliceMember) -> _Slice:
    has_leader = member.index == 0 or member.has_leader
    hosts = [member.host(0)] if has_leader else []
    hosts += [member.host(index) for index in range(1, member.size)]
    return _Slice(hosts, member.index if has_leader else member.index - 1)


def _find_subgroup(member: SliceMember) -> _Slice:
    size, subgroup, position = (
        member.subgroup_size,
        member.subgroup,
        member.index % member.subgroup_size,
    )
    if member.index and not member.has_leader:
        position, subgroup = (member.index - 1) % size, (member.index - 1) // size
    # Workers count from one; a leader in the slice shifts all others by one place.
    first = size * subgroup + 1
    last = first + size - 1
    hosts: list[str] = []
    if member.index == 0 or (member.has_leader and subgroup == 0):
        hosts, last = [member.host(0)], last - 1
    elif member.has_leader:
        first, last = first - 1, last - 1
    hosts += [member.host(index) for index in range(first, last + 1)]
    return _Slice(hosts, position)


def _requests_tpus(container: Object) -> bool:
    resources = container.get("resources") or {}
    for kind in ("limits", "requests"):
        amounts = resources.get(kind) or {}
        if RESOURCE in amounts:
            try:
                return parse_quantity(amounts[RESOURCE]) != 0
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
            if variable.get("name") == PROCESS_PORT
        ),
        None,
    )
