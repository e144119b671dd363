"""
Scale: which ordinals a line has, which are missing, and which units go first.

Ordinals of new units are the lowest that are free below the wanted count; units with higher
ordinals stay as long as the line has not too many units, so ordinals may have gaps. A leaving
unit holds its name until it has gone: its ordinal is free again only then.

The victims policy that the user chose decides which units go. With ``BEYOND``, where clients use
ordinals as addresses, exactly the ordinals below the count exist, and the operator fills a gap
while a higher unit goes. Units below the partition go last (kthena's partition counts positions,
so these are the lowest units that exist).
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kohort.model.observed import Failure, Instance, Progress
from kohort.model.policies import RolloutPolicy, Victims
from kohort.model.units import Phase
from kohort.planning.lines import LineState

MAKE_MAX = 1_000  # units that one plan makes; the next plan makes more


@dataclass(frozen=True, slots=True)
class Choice:
    """The wanted ordinals of a line, lowest first, and the surplus, whose last one goes first."""

    wanted: tuple[int, ...]
    surplus: tuple[int, ...] = ()


def choose_ordinals(
    units: Iterable[Instance],
    wanted: int,
    victims: Victims,
    protected: int = 0,
    surge: int = 0,
) -> Choice:
    """
    Which ordinals stay, which are made, and which go.

    Surge units of a rollout have the ordinals right above the wanted count: they replace units
    that the rollout took down, and go first when those are back.
    """
    found = sorted(units, key=lambda unit: unit.ordinal)
    live = [unit for unit in found if unit.phase is not Phase.LEAVING]
    if victims is Victims.BEYOND:
        return Choice(tuple(range(wanted)), tuple(u.ordinal for u in live if u.ordinal >= wanted))
    extra = tuple(u.ordinal for u in live if wanted <= u.ordinal < wanted + surge)
    live = [unit for unit in live if unit.ordinal not in extra]
    if len(live) > wanted:
        order = _order_victims(live, victims, protected)
        gone = [unit.ordinal for unit in order[: len(live) - wanted]]
        victim = set(gone)
        kept = tuple(u.ordinal for u in live if u.ordinal not in victim)
        return Choice(kept, (*reversed(gone), *extra))
    # A leaving unit holds its place until it has gone: no other unit replaces it before.
    leaving = [unit.ordinal for unit in found if unit.phase is Phase.LEAVING]
    held = {*(unit.ordinal for unit in live), *leaving[: wanted - len(live)]}
    new = find_missing({*held, *leaving}, wanted, wanted - len(held))
    return Choice(tuple(sorted((*held, *new))), extra)


def choose_alike(
    units: Iterable[Instance], policy: RolloutPolicy, target: str, taken: frozenset[int]
) -> tuple[Choice, int]:
    """
    Which units stay, are made and go where units are alike, and how many old ones stay for good.

    Old units come first, so that the partition protects so many of them and no others; then new
    units, then those that the user wants replaced. A missing unit is made from the old revision
    while fewer old ones exist than the partition protects. Extra units of a rollout are new ones:
    they stay when the old ones have gone, so no unit is made only to be deleted.
    """
    found = list(units)
    live = sorted((u for u in found if u.phase is not Phase.LEAVING), key=_worth)
    count, partition = policy.wanted, policy.partition
    updated = [u for u in live if u.revision == target and not u.is_unwanted]
    extra = updated[len(updated) - min(policy.surge, max(0, len(live) - count), len(updated)) :]
    held_back = {unit.ordinal for unit in extra}
    rest = [unit for unit in live if unit.ordinal not in held_back]
    old = [unit for unit in rest if unit.revision != target and not unit.is_unwanted]
    safe = {unit.ordinal for unit in old[:partition]}
    order = sorted(reversed(rest), key=lambda u: _rank_alike(u, target, u.ordinal in safe))
    gone = [unit.ordinal for unit in order[: max(0, len(rest) - count)]]
    leaves = set(gone)
    kept = [unit for unit in rest if unit.ordinal not in leaves]
    old = [unit for unit in old if unit.ordinal not in leaves]
    missing = count - len(kept)
    lacking = min(missing, max(0, partition - len(old)))
    used = taken.union(unit.ordinal for unit in found)
    free = find_missing(used, len(used) + missing, missing)
    places = (
        *(unit.ordinal for unit in old),
        *free[:lacking],
        *(u.ordinal for u in kept if u.revision == target and not u.is_unwanted),
        *free[lacking:],
        *(unit.ordinal for unit in kept if unit.is_unwanted),
    )
    surplus = (*(unit.ordinal for unit in extra), *reversed(gone))
    return Choice(places, surplus), min(partition, len(old) + lacking)


def spare_alike(
    state: LineState, replaced: Collection[int], surplus: frozenset[int]
) -> frozenset[int]:
    """
    The surplus without new units that stand in for old ones which go in the same step.

    When a line shrinks during a rollout, units that are not ready count as surplus first. If the
    step also replaced the remaining old unit, all units would go and one would be made again.
    """
    if state.victims is not Victims.ALIKE or not replaced:
        return surplus
    live = {unit.ordinal: unit for unit in state.units if unit.phase is not Phase.LEAVING}
    left = len(live.keys() - surplus - set(replaced))
    units = (live[ordinal] for ordinal in sorted(surplus & live.keys()))
    new = [u.ordinal for u in units if u.revision == state.target and not u.is_unwanted]
    return surplus.difference(new[: max(0, state.wanted - left)])


def _worth(unit: Instance) -> tuple[bool, int, float, int]:
    """The order of alike units: ready ones first, then by deletion cost, then the oldest."""
    return not _serves(unit), -unit.cost, unit.made_at, unit.ordinal


def _rank_alike(unit: Instance, target: str, is_safe: bool) -> tuple[bool, bool, bool, bool]:
    """The order in which units that are alike go when there are too many."""
    return not unit.is_unwanted, is_safe, _serves(unit), unit.revision == target


def _serves(unit: Instance) -> bool:
    return unit.phase is Phase.READY and not unit.is_preparing


def find_missing(held: Iterable[int], wanted: int, limit: int) -> tuple[int, ...]:
    """The lowest free ordinals below the wanted count, at most ``limit``."""
    taken = set(held)
    return tuple(islice((o for o in range(wanted) if o not in taken), max(0, limit)))


def _order_victims(live: Sequence[Instance], victims: Victims, protected: int) -> list[Instance]:
    """The units in the order in which the operator takes them down."""
    spared = {unit.ordinal for unit in live[:protected]}

    def rank(unit: Instance) -> tuple[bool, bool, int, int]:
        is_spared = unit.ordinal in spared
        if victims is Victims.HIGHEST:
            return is_spared, False, 0, -unit.ordinal
        return is_spared, unit.phase is Phase.READY, unit.cost, -unit.ordinal

    return sorted(live, key=rank)


def find_stale(state: LineState) -> list[Instance]:
    """The wanted units above the partition that do not have the target revision."""
    policy = state.rollout
    return [
        unit
        for unit in state.units
        if unit.revision != state.target and policy.partition <= unit.ordinal < policy.wanted
    ]


def count_lost(
    units: Iterable[Instance], policy: RolloutPolicy, target: str, base: str, updated_max: int = 0
) -> int:
    """
    The missing units above the partition that count as old ones where a rule limits the updated.

    The cluster has no record of each unit: the revision before is in force until a rollout is over.
    Where more units are updated than the rule allows now, the line has been further, and what is
    missing was updated, too. So it was where a partition keeps units: there the revision before is
    in force for good, and any updated unit tells that the rollout has been above it.
    """
    live = [unit for unit in units if unit.phase is not Phase.LEAVING]
    updated = sum(unit.revision == target for unit in live)
    if base in ("", target) or updated > (0 if policy.partition else updated_max):
        return 0
    return max(0, min(policy.wanted - len(live), policy.wanted - policy.partition))


@dataclass(frozen=True, slots=True)
class Ranks:
    """
    A line whose units are numbered without gaps, and the way back to its ordinals.

    Strategies count units from 0, so a line with gaps is shown to them by rank. No record
    holds a rank: the next plan numbers anew. That releases no unit by mistake, since in such
    a line the plan that releases a unit also takes it down.
    """

    state: LineState
    ordinals: tuple[int, ...]  # by rank
    held: frozenset[int]  # ordinals of all units, leaving ones included
    apart: tuple[Failure, ...] = ()  # failures of units that have no rank

    @property
    def is_dense(self) -> bool:
        """Whether every rank equals its ordinal, also for units that are still to be made."""
        return self.ordinals == tuple(range(len(self.ordinals))) and self.held.issubset(
            self.ordinals
        )

    def find_ordinal(self, rank: int) -> int:
        """The ordinal of a rank; for a rank beyond the line's units, the next free ordinal."""
        if rank < len(self.ordinals):
            return self.ordinals[rank]
        taken = self.held.union(self.ordinals)
        free = (ordinal for ordinal in range(rank + len(taken) + 1) if ordinal not in taken)
        return next(islice(free, rank - len(self.ordinals), None))


def rank_units(state: LineState) -> Ranks:
    """The line numbered by rank, with progress computed from the units that exist."""
    policy = _window(state)
    state = replace(state, rollout=policy)
    if state.victims is Victims.ALIKE:
        policy = _release_abandoned(state)
        choice, partition = choose_alike(state.units, policy, state.target, state.taken)
        policy = replace(policy, partition=partition)
        return _rank(replace(state, rollout=policy), choice)
    is_priced = state.victims is Victims.CHEAPEST
    victims = Victims.HIGHEST if is_priced and state.is_ordered else state.victims
    choice = choose_ordinals(state.units, policy.wanted, victims, policy.partition, policy.surge)
    return _rank(state, choice)


def _release_abandoned(state: LineState) -> RolloutPolicy:
    """
    The policy with a partition that keeps no broken unit of a revision that the user gave up.

    Where the target is what the line had before, old units are of a revision that was taken back.
    One that serves may stay, as the partition says; one that does not would stay broken for ever.
    """
    policy = state.rollout
    if state.base or not policy.partition:
        return policy
    serving = sum(_serves(unit) for unit in state.units if unit.revision != state.target)
    return replace(policy, partition=min(policy.partition, serving))


def _rank(state: LineState, choice: Choice) -> Ranks:
    """The line with its units numbered in the order of a choice."""
    policy = state.rollout
    ordinals = (*choice.wanted, *choice.surplus)
    progress = Progress(
        boundary=min(policy.partition, policy.wanted),
        count=max(policy.wanted, len(ordinals)),
        noted=policy.wanted,
        target=state.target,
        base=state.base,
    )
    held = state.taken.union(unit.ordinal for unit in state.units)
    found = Ranks(replace(state, progress=progress), ordinals, held)
    if found.is_dense and not any(unit.is_unwanted for unit in state.units):
        return found
    ranks = {ordinal: rank for rank, ordinal in enumerate(ordinals)}
    units = tuple(sorted(_number(state.units, ranks), key=lambda unit: unit.ordinal))
    ranked = replace(
        state,
        progress=progress,
        units=units,
        failures=tuple(_rank_failures(state.failures, ranks)),
        inner_failures=tuple(_rank_failures(state.inner_failures, ranks)),
        ordinals=ordinals,
    )
    apart = tuple(f for f in state.failures if f.ordinal not in ranks)
    return Ranks(ranked, ordinals, held, apart)


def _rank_failures(failures: Iterable[Failure], ranks: dict[int, int]) -> Iterator[Failure]:
    return (replace(f, ordinal=ranks[f.ordinal]) for f in failures if f.ordinal in ranks)


def _window(state: LineState) -> RolloutPolicy:
    """
    The policy with the count limited to the units that exist plus those that one plan makes.

    A user may ask for millions. The number of units that must stay ready is still the user's.
    """
    policy, most = state.rollout, len(state.units) + MAKE_MAX
    if policy.wanted <= most:
        return policy
    unavailable = max(0, policy.max_unavailable - (policy.wanted - most))
    return replace(policy, wanted=most, max_unavailable=unavailable)


def _number(units: Iterable[Instance], ranks: dict[int, int]) -> Iterator[Instance]:
    for unit in units:
        if unit.ordinal in ranks:
            # The strategy replaces what the user wants replaced as it replaces old units.
            revision = "" if unit.is_unwanted else unit.revision
            yield replace(unit, ordinal=ranks[unit.ordinal], revision=revision)
