"""
Rules over the roles of a group: how far one role may be ahead of another.

A rule gives each of its roles bounds, and bounds only narrow: fewer units may be updated,
or fewer may exist, than the role's own policy allows. Where the operator makes the units, it
counts the units that exist, never those of a status, so no count is stale.

A role may be ahead of the slowest role by no more than the skew, where the slowest is the role
with the smallest share of updated and ready units. If that allows nothing, as with one unit and a
small skew, the slowest role may update one unit more: a rule slows a rollout down and never
stops it (rbg#307). It is the same with growth.

A role that the user has paused, or whose pods cannot be updated in place where nothing else is
allowed, waits for the user: no other role is measured by it.

A rule that keeps versions together measures all units of a role, and roles that the user has
paused or partitioned too: where the user stops one role, the others stop within the skew.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor

from kohort.model.observed import Group, RoleInstances, Tally
from kohort.model.policies import Amendment, Gate, Rule
from kohort.model.reasons import ORDER, SKEW, VERSIONS, Blocker
from kohort.model.units import Line, Phase
from kohort.model.workload import Role, Workload
from kohort.planning.scale import count_lost

_CLOSE = 1e-9  # for rounding errors: a third of three units is one unit


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits that rules set for a line; None where no rule sets one."""

    updated_max: int | None = None  # units that may have the target revision
    count_max: int | None = None  # units that may exist
    blockers: tuple[Blocker, ...] = ()  # why the limits are no higher

    def join(self, other: "Bounds") -> "Bounds":
        """The narrower limits of both, with the blockers of both."""
        return Bounds(
            _least(self.updated_max, other.updated_max),
            _least(self.count_max, other.count_max),
            (*self.blockers, *other.blockers),
        )


NO_BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class _Counts:
    """The unit counts of one role of a group."""

    role: str
    wanted: int
    exist: int  # those that were made, and those that the role has been asked to make
    made: int
    reached: int  # existing units that have passed the rule's gate for growth
    updated: int  # updated units among ``whole``
    updated_ready: int  # updated and ready units among ``whole``, without surge
    goal: int  # units that the rollout has to update: those above the partition
    stale: int
    whole: int  # the units of which progress is a share: the goal, or all units
    is_paused: bool = False
    is_stuck: bool = False  # the policy allows updates in place only, and no old unit can take one

    @property
    def progress(self) -> float:
        """The share of the units to update that are updated and ready."""
        return min(1.0, self.updated_ready / self.whole) if self.whole else 1.0

    @property
    def is_held(self) -> bool:
        """Whether the role waits for the user: no other role waits for it then."""
        return self.is_paused or self.is_stuck

    @property
    def stop(self) -> str:
        """A clause for messages: why the role's rollout goes no further; empty if it does."""
        if self.is_paused:
            return ", whose rollout is paused,"
        if self.is_stuck:
            return ", whose pods cannot be updated in place,"
        is_over = self.updated_ready >= self.goal and self.goal < self.whole
        return f", whose partition keeps {self.whole - self.goal} of them old," if is_over else ""

    @property
    def growth(self) -> float:
        """The share of the role's wanted units that exist."""
        return self.exist / self.wanted if self.wanted else 1.0

    @property
    def made_growth(self) -> float:
        """The share of the role's wanted units that were made."""
        return self.made / self.wanted if self.wanted else 1.0


def plan_bounds(
    workload: Workload,
    group: Group,
    waiting: Collection[str] = (),
    unsteady: Collection[str] = (),
) -> Mapping[str, Bounds]:
    """The bounds of each role that a rule names, given the roles that startup order holds."""
    found: dict[str, Bounds] = {}
    held = {role.role: role for role in group.roles}
    held_back: set[str] = set()
    # Ordered rules come first: a role that they hold back must not count as the slowest. One that
    # a skew holds back counts in the next rule, for it goes on as soon as the slowest has.
    for rule in sorted(workload.rules, key=lambda rule: not rule.is_ordered):
        counts = [_count(held[name], rule, workload) for name in rule.roles if name in held]
        ordered = held_back.union(unsteady)
        growing = [c for c in counts if c.role not in waiting]
        for given in (_bound_updates(rule, counts, ordered), _bound_growth(rule, growing)):
            for role, own in given.items():
                named = tuple(_name(blocker, group, role) for blocker in own.blockers)
                bounds = Bounds(own.updated_max, own.count_max, named)
                found[role] = found.get(role, NO_BOUNDS).join(bounds)
                if rule.is_ordered and found[role].updated_max == 0:
                    held_back.add(role)
    return found


def _count(held: RoleInstances, rule: Rule, workload: Workload) -> _Counts:
    role = workload.find_role(held.role)
    policy = role.rollout if role else None
    partition = min(policy.partition, held.wanted) if policy else 0
    goal, is_paused = held.wanted - partition, policy is not None and policy.is_paused
    # Versions that are kept together are those of all units, also below the partition.
    partition = 0 if rule.is_together else partition
    if held.tally is not None:
        told = _count_tally(held, held.tally, rule.gate, goal)
        whole = held.wanted - partition
        stale = max(0, whole - told.updated)
        return replace(told, whole=whole, stale=stale, is_paused=is_paused)
    gate = rule.gate
    live = [i for i in held.instances if i.phase is not Phase.LEAVING]
    if gate is Gate.READY:
        reached = sum(i.phase is Phase.READY for i in live)
    elif gate is Gate.SCHEDULED:
        reached = sum(
            len(i.members) >= i.size and all(m.is_placed for m in i.members) for i in live
        )
    else:
        reached = len(live)
    # An updated unit below the partition must not count in place of one above the partition.
    measured = [i for i in held.list_unprotected(partition) if i.phase is not Phase.LEAVING]
    updated = [i for i in measured if i.revision == held.revision]
    # The rollout deletes surge units at its end. So no role waits for an old surge unit, and a
    # new one counts for no wanted unit, unless units are alike and the new one stays.
    staying = [i for i in measured if held.are_alike or i.ordinal < held.wanted]
    stale = sum(i.revision != held.revision for i in staying)
    if policy is not None:
        kept = replace(policy, wanted=held.wanted, partition=partition)
        stale += count_lost(held.instances, kept, held.revision, held.base)
    ready = sum(i.revision == held.revision and i.phase is Phase.READY for i in staying)
    ready = min(ready, held.wanted - partition - stale)
    # A unit missing below the highest ordinal existed before: making it again is no growth.
    # Ordinals of units that are alike prove nothing: each new unit gets a number never used before.
    ordinals = () if held.are_alike else (i.ordinal + 1 for i in held.instances)
    extent = max(ordinals, default=0)
    made = max(len(live), min(extent, held.wanted))
    exist = max(made, held.grown or 0)
    # A unit that is counted but missing has not passed the gate, so ``reached`` omits it.
    counts = (exist, made, reached, len(updated), max(0, ready), goal, stale)
    is_stuck = role is not None and _is_stuck(role, held, partition)
    return _Counts(held.role, held.wanted, *counts, held.wanted - partition, is_paused, is_stuck)


def _is_stuck(role: Role, held: RoleInstances, partition: int) -> bool:
    """Whether a role has old units, and its policy demands updates in place that are impossible."""
    old = [i for i in held.list_unprotected(partition) if i.revision != held.revision]
    is_only = role.amendment is Amendment.ONLY
    return is_only and bool(old) and not any(instance.may_amend for instance in old)


def _count_tally(held: RoleInstances, told: Tally, gate: Gate, goal: int) -> _Counts:
    tally = told.leave_out_surge(held.wanted)
    # A controller that has not observed our last write has updated no unit to it (rbg#464).
    updated = tally.updated if tally.is_seen else 0
    return _Counts(
        role=held.role,
        wanted=held.wanted,
        exist=max(tally.exist, held.grown or 0),
        made=tally.exist,
        reached=tally.ready if gate is Gate.READY else tally.exist,
        updated=updated,
        updated_ready=min(updated, tally.updated_ready),
        goal=goal,
        stale=max(0, goal - updated),
        whole=goal,
    )


def _bound_updates(
    rule: Rule, counts: list[_Counts], ordered: Collection[str]
) -> dict[str, Bounds]:
    if rule.is_ordered:
        return _bound_in_order(rule, counts)
    if rule.update_skew is None:
        return {}
    rolling = [c for c in counts if c.whole > 0 and c.role not in ordered]
    if not rule.is_together:
        rolling = [c for c in rolling if not c.is_held]
    if len(rolling) < 2:
        return {}
    slowest = min(rolling, key=lambda c: (c.progress, not c.stop, -c.wanted))
    limit = slowest.progress + rule.update_skew.of(slowest.whole)
    found: dict[str, Bounds] = {}
    for own in rolling:
        allowed = min(own.goal, floor(limit * own.whole + _CLOSE))
        if own.progress <= slowest.progress + _CLOSE and not slowest.stop:
            allowed = max(allowed, min(own.goal, own.updated_ready + 1))
        blockers: tuple[Blocker, ...] = ()
        if allowed <= own.updated and own.stale > own.whole - own.goal:
            blockers = (_explain_skew(rule, own, slowest, allowed),)
        found[own.role] = Bounds(updated_max=allowed, blockers=blockers)
    return found


def _bound_in_order(rule: Rule, counts: list[_Counts]) -> dict[str, Bounds]:
    """Bounds that hold a role's update until all roles before it are updated and ready."""
    found: dict[str, Bounds] = {}
    by_role = {c.role: c for c in counts}
    waits: _Counts | None = None
    for name in rule.roles:
        own = by_role.get(name)
        if own is None:
            continue
        if waits is not None and own.stale:
            message = (
                f"role {own.role} is updated after role {waits.role}, of which "
                f"{waits.updated_ready} of {waits.wanted} instances are updated and ready "
                f"(rule {rule.name})"
            )
            found[name] = Bounds(updated_max=0, blockers=(Blocker(ORDER, message),))
        elif waits is None and own.updated_ready < own.goal and not own.is_held:
            waits = own
    return found


def _bound_growth(rule: Rule, counts: list[_Counts]) -> dict[str, Bounds]:
    if rule.scale_skew is None or len(counts) < 2:
        return {}
    growing = [c for c in counts if c.exist < c.wanted]
    if not growing:
        return {}
    waiting = next((c for c in growing if c.exist > 0 and c.reached < c.exist), None)
    if waiting is not None:
        return {
            own.role: Bounds(count_max=own.exist, blockers=(_explain_gate(rule, own, waiting),))
            for own in growing
        }
    # A role that was asked to make units and has not made them yet keeps the others back.
    slowest = min((c for c in counts if c.made < c.wanted), key=lambda c: c.made_growth)
    limit = slowest.made_growth + rule.scale_skew.of(max(c.wanted for c in counts))
    found: dict[str, Bounds] = {}
    for own in growing:
        allowed = own.exist
        # A skew of nothing slows growth down, too, and does not stop it.
        if own.growth < limit - _CLOSE or own.growth <= slowest.made_growth + _CLOSE:
            allowed = min(own.wanted, max(ceil(limit * own.wanted - _CLOSE), own.exist + 1))
        blockers: tuple[Blocker, ...] = ()
        if allowed < own.wanted:
            message = (
                f"role {own.role} has {own.exist} of {own.wanted} instances, and may have "
                f"{allowed} while role {slowest.role} has {slowest.made} of {slowest.wanted}: "
                f"the skew is {rule.scale_skew} (rule {rule.name})"
            )
            blockers = (Blocker(SKEW, message),)
        found[own.role] = Bounds(count_max=allowed, blockers=blockers)
    return found


def _explain_gate(rule: Rule, own: _Counts, waiting: _Counts) -> Blocker:
    return Blocker(
        SKEW,
        f"role {own.role} has {own.exist} of {own.wanted} instances, and gets more when "
        f"{waiting.exist - waiting.reached} of the {waiting.exist} instances of role "
        f"{waiting.role} are {rule.gate.value} (rule {rule.name})",
    )


def _explain_skew(rule: Rule, own: _Counts, slowest: _Counts, allowed: int) -> Blocker:
    what = "versions are kept together within" if rule.is_together else "the skew is"
    reason = VERSIONS if rule.is_together else SKEW
    if own is slowest:
        return Blocker(
            reason,
            f"role {own.role} has {own.updated} of {own.wanted} instances updated, of which "
            f"{own.updated_ready} count as ready: more follow when those are: {what} "
            f"{rule.update_skew} (rule {rule.name})",
        )
    return Blocker(
        reason,
        f"role {own.role} has {own.updated} of {own.wanted} instances updated, and may have "
        f"{allowed} while role {slowest.role}{slowest.stop} has {slowest.updated_ready} of "
        f"{slowest.wanted} updated and ready: {what} {rule.update_skew} (rule {rule.name})",
    )


def _name(blocker: Blocker, group: Group, role: str) -> Blocker:
    return Blocker(blocker.reason, blocker.message, line=Line(group.ordinal, role))


def _least(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
