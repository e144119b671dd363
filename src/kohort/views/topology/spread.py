"""
How the groups of one workload are spread: which member is in which domain, and how far apart.

The width of a group is the smallest domain that holds all its members which have a
node: its tier says how far the farthest two are from each other. A member on a node
that has been deleted stands nowhere any more, so it makes no group wider.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kohort.model.observed import Group
from kohort.model.placement import Pack, Strength
from kohort.placement.forest import Forest
from kohort.placement.raw_objects import find_node
from kohort.views.picture import Picture
from kohort.views.table import Row, make_row
from kohort.views.topology.atlas import Atlas, name_domain


@dataclass(frozen=True, slots=True)
class Width:
    """The smallest domain that holds a group."""

    domain: str
    tier: int
    tier_name: str  # "rack"; empty for the whole cluster, or where it has no name


@dataclass(frozen=True, slots=True)
class Spot:
    """A domain or a node, with the members in it; nodes come innermost."""

    name: str
    tier: int | None  # None: a node
    tier_name: str
    members: tuple[str, ...]  # those on a node; domains have them in their spots
    spots: tuple["Spot", ...] = ()


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """One group."""

    ordinal: int
    phase: str
    size: int
    width: Width | None  # None: no member has a node
    is_too_wide: bool  # wider than the workload's hard topology allows
    spots: tuple[Spot, ...]
    waiting: tuple[str, ...]  # members without a node
    homeless: tuple[str, ...] = ()  # members on a node that has been deleted


@dataclass(frozen=True, slots=True)
class Spread:
    """One workload with its groups."""

    row: Row
    asked: str  # the topology that the workload asks for; empty: none
    widest: Width | None  # of all groups
    groups: tuple[GroupSpread, ...]


def make_spread(picture: Picture, atlas: Atlas) -> Spread:
    """How a workload is spread over the domains of a cluster."""
    groups = picture.reading.observed.groups if picture.reading else ()
    pack = picture.reading.workload.placement.pack if picture.reading else None
    spreads = tuple(_spread(picture, atlas, group, pack) for group in groups)
    widths = [spread.width for spread in spreads if spread.width]
    return Spread(
        row=make_row(picture),
        asked=describe_pack(pack, atlas.forest) if pack else "",
        widest=max(widths, key=lambda width: width.tier, default=None),
        groups=spreads,
    )


def describe_pack(pack: Pack, forest: Forest) -> str:
    """The topology that a workload asks for, in words."""
    if pack.tier is None and not pack.tier_name:
        return f"{pack.strength}, as near as there is room"
    limit = f"tier {pack.tier_name}" if pack.tier_name else forest.name_of_tier(pack.tier or 0)
    if pack.tier is not None and pack.tier >= forest.top:
        limit = f"tier {pack.tier}, which is the whole cluster here"
    verb = "within" if pack.strength is Strength.HARD else "preferably within"
    return f"{pack.strength}: {verb} {limit}"


def _spread(picture: Picture, atlas: Atlas, group: Group, pack: Pack | None) -> GroupSpread:
    places: dict[str, list[str]] = {}
    waiting, homeless = [], []
    for member in group.members:
        if not member.is_current:
            continue
        node = find_node(picture.sample.find_member(member.name) or {})
        if node and node not in atlas.nodes:
            homeless.append(f"{member.name} ({node})")
        elif node:
            places.setdefault(node, []).append(member.name)
        else:
            waiting.append(member.name)
    common = atlas.forest.find_common(places)
    return GroupSpread(
        ordinal=group.ordinal,
        phase=str(group.phase),
        size=group.size,
        width=None if common is None else _measure(atlas.forest, common),
        is_too_wide=common is not None and _is_too_wide(atlas.forest, common, pack),
        spots=() if common is None else tuple(_list_spots(atlas, common, places)),
        waiting=tuple(waiting),
        homeless=tuple(homeless),
    )


def _measure(forest: Forest, domain: int) -> Width:
    return Width(name_domain(forest, domain), forest.tiers[domain], forest.tier_names[domain])


def _is_too_wide(forest: Forest, common: int, pack: Pack | None) -> bool:
    if pack is None or pack.strength is not Strength.HARD:
        return False
    limit = forest.find_tier(pack.tier_name) if pack.tier_name else pack.tier
    return limit is not None and forest.tiers[common] > limit


def _list_spots(atlas: Atlas, domain: int, places: dict[str, list[str]]) -> Iterable[Spot]:
    """What is inside a domain: narrower ones first as they are named, then nodes of its own."""
    forest = atlas.forest
    inner: dict[int, dict[str, list[str]]] = {}
    own: list[str] = []
    for node, members in places.items():
        chain = forest.chain(node)
        depth = chain.index(domain)
        if depth == 0 or (depth == 1 and atlas.is_host(chain[0])):
            own.append(node)
        else:
            inner.setdefault(chain[depth - 1], {})[node] = members
    for child in sorted(inner, key=lambda d: (len(forest.names[d]), forest.names[d])):
        yield Spot(
            name_domain(forest, child),
            forest.tiers[child],
            forest.tier_names[child],
            (),
            tuple(_list_spots(atlas, child, inner[child])),
        )
    for node in sorted(own):
        yield Spot(node, None, "", tuple(places[node]))
