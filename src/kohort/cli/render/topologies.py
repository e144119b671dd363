"""The map of a cluster, and how one workload is spread over it, as lines."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from kohort.cli.render.lines import Paint, align, count, plain
from kohort.cli.render.trees import write_title
from kohort.cli.terminal import RED
from kohort.views.topology.map import Area, Guest, Host, Map
from kohort.views.topology.spread import GroupSpread, Spot, Spread, Width

_GUESTS_MAX = 4
_Row = tuple[str, str, str, str]


def write_map(drawn: Map, *, wide: bool = False) -> list[str]:
    """The domains of a cluster as a tree, with free GPUs and the pods of each node."""
    rows = [("DOMAIN", "TIER", "GPUS FREE", "PODS"), *_area(drawn.cluster, 0, wide)]
    errors = [f"the topology has a mistake: {error}" for error in drawn.errors]
    return [*errors, *align(rows)]


def _area(area: Area, depth: int, wide: bool) -> Iterator[_Row]:
    tier = write_tier(area.tier, area.tier_name) if depth else ""
    yield _indent(area.name, depth), tier, _room(area), count(area.nodes, "node")
    for inner in area.areas:
        yield from _area(inner, depth + 1, wide)
    for host in area.hosts:
        guests = _guests(host.pods, wide)
        tier = "-" if host.tier is None else write_tier(host.tier, host.tier_name)
        name = f"{host.name} ({host.note})" if host.note else host.name
        yield _indent(name, depth + 1), tier, _room(host), guests


def _room(place: Area | Host) -> str:
    return f"{place.gpus_free}/{place.gpus}" if place.gpus else "-"


def _guests(guests: Sequence[Guest], wide: bool) -> str:
    shown = guests if wide else guests[:_GUESTS_MAX]
    names = [_guest(guest, wide) for guest in shown]
    more = len(guests) - len(shown)
    return ", ".join([*names, *([f"and {more} more"] if more else [])])


def _guest(guest: Guest, wide: bool) -> str:
    name = guest.name if guest.namespace == "default" else f"{guest.namespace}/{guest.name}"
    return f"{name} ({guest.gpus})" if wide and guest.gpus else name


def write_tier(tier: int, name: str) -> str:
    """A tier as people read it."""
    return f"{tier} ({name})" if name else str(tier)


def write_spread(spread: Spread, now: datetime, paint: Paint = plain) -> list[str]:
    """A workload with its groups, each with its width and its members by domain."""
    lines = [write_title(spread.row, now, paint)]
    if spread.asked:
        lines.append(f"  {'asked':<10}{spread.asked}")
    if spread.widest:
        lines.append(f"  {'widest':<10}{_width(spread.widest)}")
    for group in spread.groups:
        lines.append("")
        name = "" if spread.row.is_one_group else f"group {group.ordinal}   "
        lines.extend(_group(group, name, paint))
    return lines


def _group(group: GroupSpread, name: str, paint: Paint) -> Iterator[str]:
    placed = group.size - len(group.waiting) - len(group.homeless)
    if group.width is None:
        yield f"  {name}no member has a node"
    else:
        width = _width(group.width)
        warning = f"   {paint('! wider than asked for', RED)}" if group.is_too_wide else ""
        assigned = f"{min(placed, group.size)} of {count(group.size, 'member')}"
        yield f"  {name}{assigned} within {width}{warning}"
    rows = list(_spots(group.spots, 0))
    yield from (f"    {line}" for line in (align(rows) if rows else ()))
    if group.waiting:
        yield f"    waiting for a node: {', '.join(group.waiting)}"
    if group.homeless:
        yield f"    on a node that was deleted: {', '.join(group.homeless)}"


def _spots(spots: Sequence[Spot], depth: int) -> Iterator[tuple[str, str]]:
    for spot in spots:
        if spot.tier is None:
            yield _indent(spot.name, depth), ", ".join(spot.members)
        else:
            yield _indent(spot.name, depth), f"tier {write_tier(spot.tier, spot.tier_name)}"
            yield from _spots(spot.spots, depth + 1)


def _width(width: Width) -> str:
    if width.domain == "cluster" and not width.tier_name:
        return f"the whole cluster, tier {width.tier}"
    return f"{width.domain}, tier {write_tier(width.tier, width.tier_name)}"


def _indent(name: str, depth: int) -> str:
    return f"{'  ' * depth}{name}"
