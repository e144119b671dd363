"""
A session: every gang that the latest changes may help is tried, in order.

A gang is placed whole or not at all; a failed attempt leaves no trace in the ledger. A
gang that failed is not tried again before room was freed, and gangs with the same
requirements as one that failed are not tried at all.

The topology domains come from HyperNodes, which serve Volcano, or from node labels: one that the
gang names, those of a KAI Topology, or those of Koordinator's layers. A forest is made
when a gang first needs it, and again when nodes or declarations changed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kohort.apis.gangs.dialects.koordinator import read_layers
from kohort.cluster.objects import Kind, Object, name_of
from kohort.placement.fits import fit_tiers
from kohort.placement.forest import Forest, build_forest, build_label_forest
from kohort.placement.hypernodes import HyperNode, read_hypernode
from kohort.placement.layout import Layout
from kohort.placement.nodes import NodeIndex
from kohort.placement.packs import RoomTrial
from kohort.placement.search import Trial, find_assignments
from kohort.placement.units import EVERYWHERE, Assignment, Unit
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.explain import explain
from kohort.simulator.scheduling.gangs.fairness import Fairness
from kohort.simulator.scheduling.gangs.queues import OVER_QUOTA, Queues
from kohort.simulator.scheduling.gangs.requests import (
    HYPERNODES,
    KAI,
    KOORDINATOR,
    DomainSource,
    GangKey,
    GangSpec,
)
from kohort.simulator.scheduling.gangs.roster import Gang, Roster
from kohort.simulator.scheduling.gangs.statuses import describe_fits
from kohort.simulator.scheduling.gangs.trials import LedgerTrial
from kohort.simulator.scheduling.gangs.units import NOT_ENOUGH_RESOURCES, Builder, Refusal
from kohort.simulator.scheduling.ledger import Ledger


class Domains:
    """The objects that declare domains, and the layouts made from them."""

    def __init__(self, index: NodeIndex) -> None:
        self._index = index
        self._hypernodes: dict[str, HyperNode] = {}
        self._levels: dict[str, list[str]] = {}
        self._layers: dict[str, Object] = {}
        self._layouts: dict[DomainSource, Layout] = {}

    def put(self, kind: Kind, obj: Object) -> None:
        """Add or replace an object that declares domains."""
        spec: Object = obj.get("spec") or {}
        if kind.name == "HyperNode":
            declared = read_hypernode(obj)
            if self._hypernodes.get(declared.name) == declared:
                return
            self._hypernodes[declared.name] = declared
        elif kind.name == "Topology":
            self._levels[name_of(obj)] = [
                level["nodeLabel"] for level in spec.get("levels") or () if level.get("nodeLabel")
            ]
        else:
            self._layers[name_of(obj)] = obj
        self._layouts.clear()

    def drop(self, kind: Kind, name: str) -> None:
        """Remove an object that declares domains."""
        if kind.name == "HyperNode":
            self._hypernodes.pop(name, None)
        elif kind.name == "Topology":
            self._levels.pop(name, None)
        else:
            self._layers.pop(name, None)
        self._layouts.clear()

    def layout(self, domains: DomainSource) -> Layout:
        """The layout of one source of domains over the current nodes."""
        known = self._layouts.get(domains)
        if known is None or known.version != self._index.version:
            known = self._layouts[domains] = Layout(self._build(domains), self._index)
        return known

    def _build(self, domains: DomainSource) -> Forest:
        labels = {name: self._index.labels(slot) for name, slot in self._index.slots.items()}
        if domains == HYPERNODES:
            return build_forest(self._hypernodes.values(), labels)
        if domains[0] == KAI:
            return build_label_forest(self._levels.get(domains[1], []), labels)
        if domains[0] == KOORDINATOR:
            layers = [tier for tier in read_layers(self._layers.values()).all if tier.label]
            titles = {tier.label: tier.name for tier in layers}
            return build_label_forest([tier.label for tier in reversed(layers)], labels, titles)
        return build_label_forest([key for key in domains[1:] if key], labels)


Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a gang: members and their nodes, or why it waits."""

    placed: tuple[tuple[Demand, str], ...] = ()
    refusal: Refusal | None = None


class Session:
    """Places gangs in the ledger."""

    def __init__(self, ledger: Ledger, roster: Roster) -> None:
        self.domains = Domains(ledger.index)
        self.queues = Queues(ledger.index)
        self.fairness = Fairness()
        self._ledger = ledger
        self._roster = roster
        self._failed: dict[Signature, Refusal] = {}
        self._blocked: dict[GangKey, Gang] = {}

    def wake(self) -> None:
        """Note that nodes may have more room than before."""
        self._failed.clear()

    def forget(self, key: GangKey) -> bool:
        """Forget a gang that waits no longer; returns whether nodes were kept for it."""
        self._blocked.pop(key, None)
        given_back = self.fairness.forget(key)
        self._ledger.freed |= given_back
        return bool(given_back)

    def update(self, gang: Gang) -> None:
        """Update the queue's counts after a change of a gang."""
        self.queues.update(gang)

    def find_objection(self, gang: Gang, spec: GangSpec) -> Refusal | None:
        """Why a gang is not admitted by its queue; empty if it is, and stays so."""
        objection = self.queues.find_objection(gang, spec)
        if objection:
            return Refusal(NOT_ENOUGH_RESOURCES, objection)
        if not gang.admitted:
            gang.admitted = True
            self.queues.update(gang)
        return self._find_jam(gang, spec)

    def _find_jam(self, gang: Gang, spec: GangSpec) -> Refusal | None:
        if not self.queues.is_fifo(spec):
            return None
        for other in self._blocked.values():
            ahead = other.object is not None and other.object.queue == spec.queue
            if ahead and other is not gang and other.order < gang.order:
                return Refusal(
                    NOT_ENOUGH_RESOURCES, f"{other.key.name} is before it in queue {spec.queue}"
                )
        return None

    def place(self, gang: Gang, spec: GangSpec) -> Outcome:
        """Place as much of a gang as possible."""
        layout = self.domains.layout(spec.domains)
        if spec.is_constrained and layout.forest.errors:
            detail = f"HyperNodes are no forest: {layout.forest.errors[0]}"
            return Outcome(refusal=Refusal(NOT_ENOUGH_RESOURCES, detail))
        builder = Builder(gang, spec, layout, self._mask_for(gang))
        refusal = builder.find_refusal()
        if refusal is not None:
            return Outcome(refusal=refusal)
        placed: list[tuple[Demand, str]] = []
        if builder.needed:
            unit = builder.build()
            assignments, refusal = self._try(gang, spec, unit, layout)
            if refusal is not None:
                self._blocked[gang.key] = gang
                self._ledger.freed |= self.fairness.keep(gang, unit, layout)
                return Outcome(refusal=refusal)
            placed += self._commit(assignments)
            self.queues.update(gang)
            for other in self.fairness.note_commit(gang, self._blocked.values()):
                self._keep(other)
        more, refusal = self._place_others(gang, spec, layout)
        return Outcome((*placed, *more), refusal)

    def _keep(self, gang: Gang) -> None:
        """Keep nodes for a gang now, since other gangs may be tried before it."""
        spec = gang.spec
        if spec is None:
            return
        layout = self.domains.layout(spec.domains)
        builder = Builder(gang, spec, layout, lambda pod: EVERYWHERE)
        if builder.needed and builder.find_refusal() is None:
            self._ledger.freed |= self.fairness.keep(gang, builder.build(), layout)

    def _place_others(
        self, gang: Gang, spec: GangSpec, layout: Layout
    ) -> tuple[list[tuple[Demand, str]], Refusal | None]:
        """Place members beyond the minimum, one by one; those like one that failed fail, too."""
        placed: list[tuple[Demand, str]] = []
        failed: dict[object, Refusal] = {}
        mask = self._mask_for(gang)
        for pod in gang.candidates():
            alike = (pod.shape, pod.terms, tuple(pod.labels.get(k) for k in _part_keys(spec)))
            builder = Builder(gang, spec, layout, mask)
            if alike in failed or not builder.may_join(pod):
                continue
            assignments, refusal = self._try(gang, spec, builder.build_single(pod), layout)
            if refusal is None:
                placed += self._commit(assignments)
                self.queues.update(gang)
            else:
                failed[alike] = refusal
        more, refusal = self._place_subgroups(gang, spec, layout)
        return [*placed, *more], next(iter(failed.values()), refusal)

    def _place_subgroups(
        self, gang: Gang, spec: GangSpec, layout: Layout
    ) -> tuple[list[tuple[Demand, str]], Refusal | None]:
        """Place whole subgroups beyond the minimum, as many as fit."""
        placed: list[tuple[Demand, str]] = []
        mask, reason = self._mask_for(gang), None
        for unit in Builder(gang, spec, layout, mask).build_more():
            assignments, refusal = self._try(gang, spec, unit, layout)
            if refusal is None:
                placed += self._commit(assignments)
                self.queues.update(gang)
            reason = reason or refusal
        return placed, reason or Builder(gang, spec, layout, mask).find_incomplete()

    def _try(
        self, gang: Gang, spec: GangSpec, unit: Unit, layout: Layout
    ) -> tuple[list[Assignment], Refusal | None]:
        """Find nodes for a unit, and leave the ledger unchanged."""
        pods = _pods_of(unit)
        minds_others = any(pod.ports or not pod.terms.is_empty for pod in pods)
        signature = () if minds_others else _sign(unit, spec.domains)
        known = self._failed.get(signature) if signature else None
        if known is not None:
            return [], known
        assignments = self._find_assignments(unit, layout, minds_others=minds_others)
        if not assignments:
            refusal = Refusal(NOT_ENOUGH_RESOURCES, self._explain(gang, unit, layout, pods))
            if signature:
                self._failed[signature] = refusal
            return [], refusal
        asked: dict[str, int] = {}
        for assignment in assignments:
            for name, amount in assignment.batch.ask.request.items():
                asked[name] = asked.get(name, 0) + amount
        if self.queues.exceeds(spec, asked):
            return [], Refusal(NOT_ENOUGH_RESOURCES, OVER_QUOTA)
        return assignments, None

    def _find_assignments(
        self, unit: Unit, layout: Layout, *, minds_others: bool
    ) -> list[Assignment]:
        ledger = self._ledger
        freed, woken = ledger.freed, set(ledger.book.woken)
        trial: Trial = LedgerTrial(layout, ledger) if minds_others else RoomTrial(layout)
        found = find_assignments(trial, unit)
        assignments = list(trial.assignments) if found is not None else []
        trial.undo(0)
        # Nothing changed in the end, so other pods need not be woken.
        ledger.freed, ledger.book.woken = freed, woken
        return assignments

    def _commit(self, assignments: Iterable[Assignment]) -> list[tuple[Demand, str]]:
        placed = []
        for assignment in assignments:
            pod = assignment.member
            assert isinstance(pod, Demand)
            node = self._ledger.index.name(assignment.slot)
            self._ledger.place(pod, node)
            self._roster.place(pod)
            placed.append((pod, node))
        return placed

    def _explain(self, gang: Gang, unit: Unit, layout: Layout, pods: list[Demand]) -> str:
        """Why a unit fits nowhere: for lack of room, or because of inter-pod terms."""
        bare = tuple(replace(batch, mask=EVERYWHERE) for batch in unit.all_batches())
        alone = Unit(bare, unit.needed, unit.window, unit.pinned)
        fits = list(fit_tiers(layout, alone))
        kept = self.fairness.find_kept(gang)
        if not any(fit.fits for fit in fits):
            return describe_fits(fits)
        if kept is not None:
            return kept.describe()
        ledger = self._ledger
        for pod in pods:
            if pod.ports or not pod.terms.is_empty or ledger.holders.forbidden(pod):
                return explain(pod, ledger)
        return "its subgroups do not fit together into a domain"

    def _mask_for(self, gang: Gang) -> Callable[[Demand], int]:
        kept = self.fairness.find_kept(gang)
        closed = kept.mask if kept else 0
        holders = self._ledger.holders
        return lambda pod: ~(closed | holders.forbidden(pod))


def _pods_of(unit: Unit) -> list[Demand]:
    members = (member for batch in unit.all_batches() for member in batch.members)
    return [member for member in members if isinstance(member, Demand)]


def _part_keys(spec: GangSpec) -> list[str]:
    return [key for policy in spec.policies for key in policy.keys]


def _sign(unit: Unit, domains: tuple[str, ...]) -> Signature:
    """A key of all facts that decide whether a unit fits by room alone."""
    return (
        domains,
        unit.needed,
        unit.window,
        unit.pinned,
        unit.policy,
        tuple((b.ask, len(b.members), b.role, b.mask) for b in unit.batches),
        tuple(sorted(unit.minima.items())),
        tuple(sorted(unit.parts_needed.items())),
        tuple(_sign(part, domains) for part in unit.parts),
    )
