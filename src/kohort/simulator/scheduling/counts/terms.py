"""
The compiled inter-pod terms of a pod: affinity, anti-affinity and topology spread.

Terms are shared by all pods that write the same ones in one namespace, and
point straight at their tallies. An anti-affinity term also counts its holders,
because it binds both ways: a pod that stands somewhere keeps away the pods that
its term means (a ``Family`` is the count of such holders).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kohort.cluster.objects import Object
from kohort.cluster.selectors import EVERYTHING, LabelSelector, Requirement, read_label_selector
from kohort.placement.nodes import NodeIndex
from kohort.placement.rules import NodeRule
from kohort.simulator.scheduling.counts.selectors import Matcher, Scope, narrow, split_exclusion
from kohort.simulator.scheduling.counts.tallies import PodTally, TallyBook

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class Count:
    """The pods that a term selects: one tally, minus another if the term excludes some."""

    tally: PodTally
    less: PodTally | None = None

    def nodes(self, book: TallyBook) -> int:
        """The nodes in whose domain such a pod is placed."""
        less = book.fresh(self.less) if self.less else None
        return book.fresh(self.tally).where_more_than(less, book.index)


@dataclass(frozen=True, slots=True)
class TermKey:
    """The common part of a family of anti-affinity terms."""

    matcher: Matcher
    excluded_key: str
    topology_key: str


@dataclass(frozen=True, slots=True)
class HeldTerm:
    """An anti-affinity term of a holder: its family, and the values that it excludes."""

    family: TermKey
    excluded_values: frozenset[str]


@dataclass(frozen=True, slots=True)
class SpreadEligibility:
    """The nodes that count for topology spread, by the pod's node rule and policies."""

    rule: NodeRule
    keys: tuple[str, ...]
    honours_affinity: bool
    honours_taints: bool

    def mask(self, index: NodeIndex) -> int:
        """The nodes whose pods and domains count."""
        mask = index.everywhere
        for key in self.keys:
            mask &= index.with_key.get(key, 0)
        if self.honours_affinity:
            mask &= self.rule.affine(index)
        if self.honours_taints:
            mask &= self.rule.untainted(index)
        return mask


@dataclass(frozen=True, slots=True)
class Spread:
    """One topology spread constraint."""

    tally: PodTally
    skew_max: int
    domains_min: int
    is_required: bool


@dataclass(eq=False, slots=True)
class Terms:
    """All inter-pod terms of a pod."""

    together: Matcher | None = None
    affinity: tuple[PodTally, ...] = ()
    anti: tuple[Count, ...] = ()
    held: tuple[HeldTerm, ...] = ()
    preferred: tuple[tuple[int, Count], ...] = ()
    spreads: tuple[Spread, ...] = ()
    users: int = 0
    key: object = None
    tallies: list[PodTally] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the pod has no inter-pod terms."""
        return not (self.affinity or self.anti or self.preferred or self.spreads)


@dataclass(frozen=True, slots=True)
class TermSource:
    """The fields of a pod that terms come from."""

    namespace: str
    labels: Mapping[str, str]
    rule: NodeRule
    affinity: Object
    anti_affinity: Object
    spreads: list[Object]


def compile_terms(source: TermSource, book: TallyBook) -> Terms:
    """Compile the terms of a pod; the tallies are opened for it."""
    terms = Terms()
    compiler = _Compiler(source, book, terms)
    required = [compiler.pair(term) for term in source.affinity.get(REQUIRED) or ()]
    if required:
        terms.together = Matcher(tuple(dict.fromkeys(required)))
        keys = [term["topologyKey"] for term in source.affinity[REQUIRED]]
        terms.affinity = tuple(
            compiler.open(PodTally(terms.together, key)) for key in dict.fromkeys(keys)
        )
    anti: list[Object] = source.anti_affinity.get(REQUIRED) or []
    terms.anti = tuple(compiler.count(term) for term in anti)
    terms.held = tuple(dict.fromkeys(compiler.held(term) for term in anti))
    terms.preferred = tuple(compiler.preferred())
    terms.spreads = tuple(compiler.spreads())
    return terms


class _Compiler:
    """Compiles the terms of one pod."""

    def __init__(self, source: TermSource, book: TallyBook, terms: Terms) -> None:
        self._source = source
        self._book = book
        self._terms = terms

    def open(self, tally: PodTally) -> PodTally:
        opened = self._book.open(tally)
        self._terms.tallies.append(opened)
        return opened

    def pair(self, term: Object) -> tuple[Scope, LabelSelector]:
        labels = self._source.labels
        selector = read_label_selector(term.get("labelSelector"))
        same = [
            Requirement(key, "In", (labels[key],))
            for key in term.get("matchLabelKeys") or ()
            if key in labels
        ]
        other = [
            Requirement(key, "NotIn", (labels[key],))
            for key in term.get("mismatchLabelKeys") or ()
            if key in labels
        ]
        return self._scope(term), narrow(selector, [*same, *other])

    def count(self, term: Object) -> Count:
        scope, selector = self.pair(term)
        rest, excluded = split_exclusion(selector)
        tally = self.open(PodTally(Matcher(((scope, rest),)), term["topologyKey"]))
        if excluded is None:
            return Count(tally)
        less = Matcher(((scope, narrow(rest, [excluded])),))
        return Count(tally, self.open(PodTally(less, term["topologyKey"])))

    def held(self, term: Object) -> HeldTerm:
        scope, selector = self.pair(term)
        rest, excluded = split_exclusion(selector)
        family = TermKey(
            Matcher(((scope, rest),)), excluded.key if excluded else "", term["topologyKey"]
        )
        return HeldTerm(family, frozenset(excluded.values if excluded else ()))

    def preferred(self) -> Iterable[tuple[int, Count]]:
        for sign, raw in ((1, self._source.affinity), (-1, self._source.anti_affinity)):
            for item in raw.get(PREFERRED) or ():
                yield sign * int(item["weight"]), self.count(item["podAffinityTerm"])

    def spreads(self) -> Iterable[Spread]:
        for raw in self._source.spreads:
            is_required = raw.get("whenUnsatisfiable") == "DoNotSchedule"
            keys = tuple(
                other["topologyKey"]
                for other in self._source.spreads
                if (other.get("whenUnsatisfiable") == "DoNotSchedule") == is_required
            )
            eligibility = SpreadEligibility(
                self._source.rule,
                keys,
                (raw.get("nodeAffinityPolicy") or "Honor") == "Honor",
                (raw.get("nodeTaintsPolicy") or "Ignore") == "Honor",
            )
            _, selector = self.pair(raw)
            scope = Scope(frozenset({self._source.namespace}))
            tally = PodTally(
                Matcher(((scope, selector),)),
                raw["topologyKey"],
                eligibility,
                counts_leaving=False,
            )
            minimum = int(raw.get("minDomains") or 1)
            yield Spread(self.open(tally), int(raw["maxSkew"]), minimum, is_required)

    def _scope(self, term: Object) -> Scope:
        names = frozenset(term.get("namespaces") or ())
        raw = term.get("namespaceSelector")
        if raw is None:
            return Scope(names or frozenset({self._source.namespace}))
        selector = narrow(read_label_selector(raw), ())
        return Scope(names, EVERYTHING if not selector.requirements else selector)
