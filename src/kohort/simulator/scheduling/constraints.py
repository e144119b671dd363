"""
Nodes that a pod may or prefers to use because of other pods: affinity and topology spread.

Required terms become masks; each is kept apart until the end, because an
unschedulable pod's message counts the nodes that each of them lost. Preferences
become levels: sets of nodes in order of how well they please. Each criterion is
brought to 0..100 over the candidates and weighted as the default profile does;
the emptiest node of the best level wins.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from kohort.simulator.scheduling.counts.terms import Spread
from kohort.simulator.scheduling.demands import Demand
from kohort.simulator.scheduling.ledger import Ledger

NODE_AFFINITY_WEIGHT = 2
POD_AFFINITY_WEIGHT = 2
SPREAD_WEIGHT = 2
TAINT_WEIGHT = 3

Levels = list[tuple[int, int]]  # a score and the nodes that have it


@dataclass(frozen=True, slots=True)
class Constraints:
    """The nodes that each kind of required term allows."""

    spread_labelled: int
    spread: int
    affinity: int
    anti: int
    symmetry: int

    @property
    def allowed(self) -> int:
        """The nodes that all kinds of terms allow."""
        return self.spread_labelled & self.spread & self.affinity & self.anti & self.symmetry


def find_constraints(pod: Demand, ledger: Ledger) -> Constraints:
    """The nodes that each kind of term allows a pod, given the placed pods."""
    everywhere = ledger.index.everywhere
    labelled, spread = _spread_masks(pod, ledger)
    anti = everywhere
    for count in pod.terms.anti:
        anti &= ~count.nodes(ledger.book)
    return Constraints(
        spread_labelled=labelled,
        spread=spread,
        affinity=_affinity_mask(pod, ledger),
        anti=anti,
        symmetry=everywhere & ~ledger.holders.forbidden(pod),
    )


def _affinity_mask(pod: Demand, ledger: Ledger) -> int:
    book, index, terms = ledger.book, ledger.index, pod.terms
    mask = index.everywhere
    if not terms.affinity:
        return mask
    tallies = [book.fresh(tally) for tally in terms.affinity]
    assert terms.together is not None
    # The first pod of a group with affinity to itself has no other pod to join yet.
    is_first = not any(tally.total for tally in tallies) and book.means(terms.together, pod)
    for tally in tallies:
        mask &= index.with_key.get(tally.key, 0) if is_first else tally.present
    return mask


def _spread_masks(pod: Demand, ledger: Ledger) -> tuple[int, int]:
    index = ledger.index
    labelled = spread = index.everywhere
    for constraint in pod.terms.spreads:
        if constraint.is_required:
            labelled &= index.with_key.get(constraint.tally.key, 0)
            spread &= _spread_mask(constraint, pod, ledger)
    return labelled, spread


def _spread_mask(constraint: Spread, pod: Demand, ledger: Ledger) -> int:
    tally = ledger.book.fresh(constraint.tally)
    absent = tally.absent(ledger.index)
    own = 1 if ledger.book.means(tally.matcher, pod) else 0
    lowest = 0
    if not absent:
        lowest = min(tally.at_level, default=0)
    if constraint.domains_min > 1 and _domains(constraint, ledger) < constraint.domains_min:
        lowest = 0
    ceiling = lowest + constraint.skew_max - own
    mask = absent if ceiling >= 0 else 0
    for level, nodes in tally.at_level.items():
        if level <= ceiling:
            mask |= nodes
    return mask


def _domains(constraint: Spread, ledger: Ledger) -> int:
    eligible = constraint.tally.eligible
    values = ledger.index.with_value.get(constraint.tally.key, {})
    return sum(1 for nodes in values.values() if nodes & eligible)


def has_preferences(pod: Demand, ledger: Ledger) -> bool:
    """Whether a pod has preferences besides free room."""
    terms, rule = pod.terms, pod.shape.rule
    return bool(
        terms.preferred
        or rule.preferred
        or rule.avoided(ledger.index)
        or any(not spread.is_required for spread in terms.spreads)
    )


def rank(pod: Demand, candidates: int, ledger: Ledger) -> list[int]:
    """The candidate nodes in sets, highest score first."""
    levels: Levels = [(0, candidates)]
    for weight, criterion in _criteria(pod, candidates, ledger):
        levels = _combine(levels, _normalise(criterion, weight))
    return [nodes for _, nodes in sorted(levels, reverse=True)]


def _criteria(pod: Demand, candidates: int, ledger: Ledger) -> Iterable[tuple[int, Levels]]:
    index, rule = ledger.index, pod.shape.rule
    if rule.preferred:
        yield NODE_AFFINITY_WEIGHT, _sum(rule.preferences(index), candidates)
    avoided = rule.avoided(index)
    if avoided:
        yield TAINT_WEIGHT, _sum([(-1, nodes) for nodes in avoided], candidates)
    if pod.terms.preferred:
        yield POD_AFFINITY_WEIGHT, _sum(_preferred(pod, ledger), candidates)
    for constraint in pod.terms.spreads:
        if not constraint.is_required:
            tally = ledger.book.fresh(constraint.tally)
            levels = [(-level, nodes) for level, nodes in tally.at_level.items()]
            # Nodes outside the topology come last.
            outside = candidates & ~tally.present & ~tally.absent(index)
            levels.append((-1 - max(tally.at_level, default=0), outside))
            yield SPREAD_WEIGHT, _sum(levels, candidates)


def _preferred(pod: Demand, ledger: Ledger) -> Levels:
    parts: Levels = []
    for weight, count in pod.terms.preferred:
        tally = ledger.book.fresh(count.tally)
        if count.less is None:
            parts += [(weight * level, nodes) for level, nodes in tally.at_level.items()]
        else:
            parts.append((weight, count.nodes(ledger.book)))
    return parts


def _sum(parts: Levels, candidates: int) -> Levels:
    levels: Levels = [(0, candidates)]
    for part in parts:
        levels = _combine(levels, [part])
    return levels


def _combine(levels: Levels, parts: Levels) -> Levels:
    """Add up the scores of several sets of nodes."""
    merged: dict[int, int] = {}
    for score, nodes in levels:
        rest = nodes
        for extra, chosen in parts:
            both = rest & chosen
            if both:
                merged[score + extra] = merged.get(score + extra, 0) | both
                rest &= ~both
        if rest:
            merged[score] = merged.get(score, 0) | rest
    return list(merged.items())


def _normalise(levels: Levels, weight: int) -> Levels:
    scores = [score for score, _ in levels]
    low, high = min(scores, default=0), max(scores, default=0)
    if low == high:
        return [(0, nodes) for _, nodes in levels]
    return [(weight * 100 * (score - low) // (high - low), nodes) for score, nodes in levels]
