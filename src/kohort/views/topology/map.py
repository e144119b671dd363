"""
The map of a cluster: its domains as a tree, with free GPUs, and the pods of each node.

A domain that holds one node and nothing else is shown once, as that node. GPUs are free if
a pod can get them: nodes that are cordoned or not ready have none.
"""

from dataclasses import dataclass

from kohort.placement.forest import ROOT
from kohort.views.topology.atlas import Atlas, describe_node, name_domain


@dataclass(frozen=True, slots=True)
class Guest:
    """A pod on a node."""

    namespace: str
    name: str
    gpus: int


@dataclass(frozen=True, slots=True)
class Host:
    """One node."""

    name: str
    tier: int | None  # of the domain that is this node alone; None: there is none
    tier_name: str
    gpus: int
    gpus_free: int
    note: str  # what is the matter with it; empty if it takes pods
    pods: tuple[Guest, ...]


@dataclass(frozen=True, slots=True)
class Area:
    """One domain, with all that is in it."""

    name: str
    tier: int
    tier_name: str
    nodes: int
    gpus: int
    gpus_free: int
    areas: tuple["Area", ...]
    hosts: tuple[Host, ...]  # those that are in none of the areas


@dataclass(frozen=True, slots=True)
class Map:
    """The whole cluster, and what is wrong with how its domains are declared."""

    cluster: Area
    errors: tuple[str, ...]


def draw_map(atlas: Atlas) -> Map:
    """The map of all domains and nodes."""
    return Map(_draw(atlas, ROOT), atlas.forest.errors)


def _draw(atlas: Atlas, domain: int) -> Area:
    forest = atlas.forest
    hosts = [_draw_host(atlas, name) for name in atlas.hosts.get(domain, ())]
    areas: list[Area] = []
    for child in forest.children[domain]:
        area = _draw(atlas, child)
        if atlas.is_host(child):
            hosts.extend(area.hosts)
        else:
            areas.append(area)
    hosts.sort(key=lambda host: host.name)
    areas.sort(key=lambda area: _natural(area.name))
    places: tuple[Host | Area, ...] = (*hosts, *areas)
    return Area(
        name=name_domain(forest, domain),
        tier=forest.tiers[domain],
        tier_name=forest.tier_names[domain],
        nodes=len(hosts) + sum(area.nodes for area in areas),
        gpus=sum(place.gpus for place in places),
        gpus_free=sum(place.gpus_free for place in places),
        areas=tuple(areas),
        hosts=tuple(hosts),
    )


def _natural(name: str) -> tuple[int, str]:
    """``rack-2`` comes before ``rack-10``."""
    return len(name), name


def _draw_host(atlas: Atlas, name: str) -> Host:
    free, gpus = atlas.count_room(name)
    note = describe_node(atlas.nodes[name])
    guests = (Guest(s.namespace, s.name, s.gpus) for s in atlas.sitters.get(name, ()))
    forest = atlas.forest
    nearest = forest.chain(name)[0]
    own = nearest if atlas.is_host(nearest) else ROOT
    return Host(
        name=name,
        tier=forest.tiers[own] if own != ROOT else None,
        tier_name=forest.tier_names[own],
        gpus=gpus,
        gpus_free=0 if note else free,
        note=note,
        pods=tuple(guests),
    )
