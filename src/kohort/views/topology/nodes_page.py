"""
The page of nodes: the map of a cluster with whose pods stand where, cut to what a page shows.

A cluster has thousands of nodes and a node hundreds of pods: the page carries at most so many
nodes, those that need help first, and at most so many lines for each, and says how many it left
out. Totals are of everything. Pods of one group on one node are one line.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from kohort.views.residents import Resident
from kohort.views.topology.map import Area, Guest, Host, Map

HOSTS_MAX = 100
LINES_MAX = 10
Owners = Mapping[tuple[str, str], Resident]


@dataclass(frozen=True, slots=True)
class NodesWish:
    """What a page wants to see."""

    search: str = (
        ""  # nodes with this text in their names, their states or the names of what stands there
    )
    hosts: int = HOSTS_MAX
    whole: frozenset[str] = frozenset()  # nodes of which every line is wanted


@dataclass(frozen=True, slots=True)
class ResidentLine:
    """The pods of one group on a node, or one pod of no workload."""

    namespace: str
    workload: str  # as ``-o name`` writes it; empty: the pod belongs to none
    name: str  # of the pod that belongs to none
    group: int | None  # None: the workload is the only group
    gang: str
    pods: int
    gpus: int


@dataclass(frozen=True, slots=True)
class ShownHost:
    """One node."""

    name: str
    gpus: int
    gpus_free: int
    note: str
    is_failed: bool  # by a user of the simulation
    pods: int
    lines: tuple[ResidentLine, ...]
    lines_left_out: int


@dataclass(frozen=True, slots=True)
class ShownArea:
    """One domain: its totals, and those of its nodes that are shown."""

    name: str
    tier_name: str
    nodes: int
    gpus: int
    gpus_free: int
    areas: tuple["ShownArea", ...]
    hosts: tuple[ShownHost, ...]


@dataclass(frozen=True, slots=True)
class NodesPage:
    """The page."""

    cluster: ShownArea
    matching: int  # nodes that were wanted
    shown: int
    errors: tuple[str, ...]


def make_page(drawn: Map, owners: Owners, failed: Collection[str], wish: NodesWish) -> NodesPage:
    """The nodes that a page wants to see, as many as it shows."""
    text = wish.search.lower()
    found = [host for host in _list_hosts(drawn.cluster) if _is_wanted(host, owners, text)]
    found.sort(key=lambda host: not (host.note or host.name in failed))
    chosen = {host.name for host in found[: wish.hosts]}

    def show(area: Area) -> ShownArea:
        return ShownArea(
            name=area.name,
            tier_name=area.tier_name,
            nodes=area.nodes,
            gpus=area.gpus,
            gpus_free=area.gpus_free,
            areas=tuple(shown for shown in map(show, area.areas) if shown.areas or shown.hosts),
            hosts=tuple(
                _show_host(host, owners, is_failed=host.name in failed, wish=wish)
                for host in area.hosts
                if host.name in chosen
            ),
        )

    return NodesPage(show(drawn.cluster), len(found), len(chosen), drawn.errors)


def _list_hosts(area: Area) -> Iterator[Host]:
    yield from area.hosts
    for inner in area.areas:
        yield from _list_hosts(inner)


def _is_wanted(host: Host, owners: Owners, text: str) -> bool:
    if not text or text in host.name.lower() or text in host.note.lower():
        return True
    return any(text in _name_owner(guest, owners).lower() for guest in host.pods)


def _name_owner(guest: Guest, owners: Owners) -> str:
    found = owners.get((guest.namespace, guest.name))
    return found.workload if found is not None else guest.name


def _show_host(host: Host, owners: Owners, *, is_failed: bool, wish: NodesWish) -> ShownHost:
    groups = _gather(host, owners)
    if text := wish.search.lower():
        groups.sort(key=lambda guests: text not in _name_owner(guests[0], owners).lower())
    kept = len(groups) if host.name in wish.whole else LINES_MAX
    return ShownHost(
        name=host.name,
        gpus=host.gpus,
        gpus_free=host.gpus_free,
        note=host.note,
        is_failed=is_failed,
        pods=len(host.pods),
        lines=tuple(_write_line(guests, owners) for guests in groups[:kept]),
        lines_left_out=max(0, len(groups) - kept),
    )


def _gather(host: Host, owners: Owners) -> list[list[Guest]]:
    """The pods of a node, group by group."""
    groups: dict[tuple[str, str, int | None] | tuple[str, str], list[Guest]] = {}
    for guest in host.pods:
        own = (guest.namespace, guest.name)
        found = owners.get(own)
        key = own if found is None else (found.namespace, found.workload, found.group)
        groups.setdefault(key, []).append(guest)
    return list(groups.values())


def _write_line(guests: list[Guest], owners: Owners) -> ResidentLine:
    first = guests[0]
    found = owners.get((first.namespace, first.name))
    return ResidentLine(
        namespace=first.namespace,
        workload=found.workload if found is not None else "",
        name="" if found is not None else first.name,
        group=found.group if found is not None else 0,
        gang=found.gang if found is not None else "",
        pods=len(guests),
        gpus=sum(guest.gpus for guest in guests),
    )
