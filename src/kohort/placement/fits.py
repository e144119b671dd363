"""
Why a gang fits or does not: the best domain of each tier, and what it lacks.

The arithmetic is that of the embedded cluster's scheduler, on the raw objects of any
cluster. Terms of members about other pods (affinity, spreading) are not counted, and
the explanation says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kohort.cluster.objects import Object, labels_of, name_of, uid_of
from kohort.model.placement import Pack, Strength
from kohort.placement.amounts import Amounts
from kohort.placement.forest import ROOT, Forest, build_forest, build_label_forest
from kohort.placement.hypernodes import read_hypernode
from kohort.placement.layout import Layout
from kohort.placement.nodes import NodeIndex
from kohort.placement.packs import RoomTrial
from kohort.placement.raw_objects import PodAsk, find_node, read_index, read_request, read_rule
from kohort.placement.search import count_room, find_assignments, list_tiers
from kohort.placement.units import Batch, Unit, Window


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The amount of one resource that a domain lacks for members of one shape."""

    resource: str
    missing: int  # CPU in thousandths, the rest in units; 0: the sum suffices, but on no one node


@dataclass(frozen=True, slots=True)
class ShapeFit:
    """How many members with equal requests fit into one domain."""

    members: tuple[str, ...]
    request: Amounts
    have: int  # how many of them fit, without members of other shapes
    nodes: int  # nodes of the domain that accept them at all
    shortfalls: tuple[Shortfall, ...] = ()  # none: nodes lack different things

    @property
    def need(self) -> int:
        """The number of members."""
        return len(self.members)

    @property
    def missing(self) -> int:
        """The number of members that do not fit."""
        return max(0, self.need - self.have)


@dataclass(frozen=True, slots=True)
class Fit:
    """The best domain of one tier."""

    tier: int
    title: str  # the tier's name for people
    domain: str
    nodes: int
    shapes: tuple[ShapeFit, ...]
    assignments: int  # members that fit into the domain
    fits: bool  # whether as many members fit as the gang needs

    @property
    def is_mixed_up(self) -> bool:
        """Whether each shape fits alone, but not all shapes together."""
        return not self.fits and not any(shape.missing for shape in self.shapes)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where the members of a gang are placed, and the best domain of each tier for the others."""

    waiting: tuple[str, ...]  # members without a node
    placed: tuple[tuple[str, str], ...]  # members and their nodes
    needed: int  # how many of the waiting members must find room together
    tiers: tuple[Fit, ...]  # the examined tiers, from near to far; the last is the cluster
    pack: Pack | None
    limit: int | None  # the widest tier that is allowed; none: all are
    errors: tuple[str, ...] = ()  # why the domains form no forest
    minds_others: bool = False  # members have terms about other pods, which are not counted
    is_limit_known: bool = True  # whether the cluster has the tier that the pack names

    @property
    def nearest(self) -> Fit | None:
        """The nearest tier at which the gang fits, allowed or not."""
        return next((fit for fit in self.tiers if fit.fits), None)

    @property
    def is_placeable(self) -> bool:
        """Whether the gang fits within its allowed tiers."""
        return any(fit.fits for fit in self.allowed)

    @property
    def allowed(self) -> tuple[Fit, ...]:
        """The tiers inside the limit."""
        limit = self.limit
        return self.tiers if limit is None else tuple(f for f in self.tiers if f.tier <= limit)


@dataclass(frozen=True, slots=True)
class Wish:
    """The requirements of a gang besides its members' requests."""

    pack: Pack | None = None
    needed: int | None = None  # members that start together; None: all
    # Node labels from broad to narrow, instead of HyperNodes; a tier is called by the last
    # part of its label, as by dialects that know tiers by labels.
    levels: Sequence[str] = ()


NO_WISH = Wish()


def explain(
    nodes: Iterable[Object],
    pods: Iterable[Object],
    hypernodes: Iterable[Object],
    members: Iterable[Object],
    wish: Wish = NO_WISH,
) -> Explanation:
    """Explain where a gang of pods could go; ``pods`` are all pods of the cluster."""
    index = read_index(nodes, pods)
    labels = {name: index.labels(slot) for name, slot in index.slots.items()}
    if wish.levels:
        titles = {key: key.rpartition("/")[2] for key in wish.levels}
        forest = build_label_forest(wish.levels, labels, titles)
    else:
        forest = build_forest((read_hypernode(obj) for obj in hypernodes), labels)
    gang = sorted(members, key=name_of)
    return _Explainer(Layout(forest, index), gang, wish).explain()


class _Explainer:
    def __init__(self, layout: Layout, members: list[Object], wish: Wish) -> None:
        self._layout = layout
        self._forest: Forest = layout.forest
        self._pack = wish.pack
        self._members = members
        self._waiting = [pod for pod in members if _is_waiting(pod)]
        self._placed = [(name_of(pod), find_node(pod)) for pod in members if find_node(pod)]
        wanted = len(members) if wish.needed is None else wish.needed
        self._needed = min(max(0, wanted - len(self._placed)), len(self._waiting))
        self._batches = tuple(_read_batches(self._waiting))

    def explain(self) -> Explanation:
        limit, is_known = self._find_limit()
        return Explanation(
            waiting=tuple(name_of(pod) for pod in self._waiting),
            placed=tuple(self._placed),
            needed=self._needed,
            tiers=tuple(self._fits()) if self._waiting else (),
            pack=self._pack,
            limit=limit,
            errors=self._forest.errors,
            minds_others=any(_minds_others(pod) for pod in self._members),
            is_limit_known=is_known,
        )

    def _find_limit(self) -> tuple[int | None, bool]:
        pack = self._pack
        if pack is None or pack.strength is Strength.SOFT:
            return None, True
        if pack.tier_name:
            tier = self._forest.find_tier(pack.tier_name)
            return tier, tier is not None
        return pack.tier, pack.tier is None or pack.tier >= min(self._forest.at_tier)

    def _fits(self) -> Iterator[Fit]:
        pinned = self._forest.find_common(node for _, node in self._placed)
        window = Window(0, self._forest.top)
        return fit_tiers(self._layout, Unit(self._batches, self._needed, window, pinned))


def fit_tiers(layout: Layout, unit: Unit) -> Iterator[Fit]:
    """The best domain of each tier that a unit may use, by room alone and without subgroups."""
    batches = unit.all_batches()

    def count_rooms(domain: int) -> tuple[int, int]:
        rooms = [count_room(layout, batch.ask, domain, batch.mask) for batch in batches]
        return sum(map(min, rooms, (len(batch.members) for batch in batches))), sum(rooms)

    for domains in list_tiers(layout, unit.window, ROOT, unit.pinned):
        tier = layout.forest.tiers[domains[0]]
        trial = RoomTrial(layout)
        window = Window(tier, tier) if unit.window else None
        found = find_assignments(trial, Unit(batches, unit.needed, window, unit.pinned))
        trial.undo(0)
        best = found if found is not None else max(domains, key=count_rooms)
        yield Fit(
            tier,
            layout.forest.name_of_tier(tier),
            layout.forest.names[best],
            len(layout.slots[best]),
            tuple(_fit_shape(layout, batch, best) for batch in batches),
            count_rooms(best)[0],
            found is not None,
        )


def _fit_shape(layout: Layout, batch: Batch, domain: int) -> ShapeFit:
    index = layout.index
    allowed = batch.ask.rule.allowed(index) & batch.mask
    slots = [slot for slot in layout.slots[domain] if allowed >> slot & 1]
    names = tuple(str(member) for member in batch.members)
    have = count_room(layout, batch.ask, domain, batch.mask)
    short = _find_shortfalls(index, slots, batch.ask.request, len(names))
    return ShapeFit(names, batch.ask.request, have, len(slots), short if have < len(names) else ())


def _find_shortfalls(
    index: NodeIndex, slots: list[int], request: Amounts, need: int
) -> tuple[Shortfall, ...]:
    """The resources that a domain lacks, each counted by itself."""
    found = []
    for name, amount in request.items():
        free = [max(0, index.free[slot].get(name, 0)) for slot in slots]
        if sum(room // amount for room in free) < need:
            found.append(Shortfall(name, max(0, need * amount - sum(free))))
    return tuple(found)


def _is_waiting(pod: Object) -> bool:
    phase = (pod.get("status") or {}).get("phase", "")
    return not (pod.get("spec") or {}).get("nodeName") and phase not in ("Succeeded", "Failed")


def _read_batches(pods: list[Object]) -> Iterator[Batch]:
    """Members grouped by requests and node rules, which are equal within a set."""
    groups: dict[str, list[Object]] = {}
    for pod in pods:
        spec: Object = pod.get("spec") or {}
        affinity = (spec.get("affinity") or {}).get("nodeAffinity")
        key = [read_request(pod), spec.get("nodeSelector"), affinity, spec.get("tolerations")]
        groups.setdefault(repr(key), []).append(pod)
    for alike in groups.values():
        ask = PodAsk(read_request(alike[0]), read_rule(alike[0]))
        yield Batch(ask, tuple(name_of(pod) or uid_of(pod) for pod in alike))


def _minds_others(pod: Object) -> bool:
    spec: Object = pod.get("spec") or {}
    affinity: Object = spec.get("affinity") or {}
    return bool(
        affinity.get("podAffinity")
        or affinity.get("podAntiAffinity")
        or spec.get("topologySpreadConstraints")
    )


def read_domains(nodes: Iterable[Object], hypernodes: Iterable[Object]) -> Forest:
    """The forest over raw nodes, for views that show where pods are placed."""
    labels = {name_of(node): labels_of(node) for node in nodes}
    return build_forest((read_hypernode(obj) for obj in hypernodes), labels)
