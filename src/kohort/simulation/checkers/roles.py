"""
G8: roles begin and are updated in their order, and none is further ahead than a rule allows.

Each write of the operator that gives up an old instance, or makes one more, is a decision. It is
judged by the best state that the other roles had since its writer had last seen everything: what
was ready then may have failed unseen, and later changes do not count.

Where another controller makes the units of a role, the decision is what the operator writes for it:
how many units it asks for, and which of them it lets be updated. Of the other roles the operator
knows what such controllers count, so these have their time, too.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor

from kohort.cluster import kinds
from kohort.cluster.objects import Object
from kohort.simulation.checkers.checker import Checker, Scene
from kohort.simulation.checkers.truth import Commit, Group
from kohort.simulation.simulated_api import LineView, RuleView

_CLOSE = 1e-9  # shares are fractions


@dataclass(frozen=True, slots=True)
class _RoleState:
    """One role at one moment."""

    view: LineView
    updated: frozenset[int]  # ordinals of instances whose object has the current template
    ready: int  # of those above the partition, the ones that serve
    has_old: bool  # whether one is still to be updated
    reached: int  # instances that there have been since fewer were wanted
    keeps_old: bool = False  # whether an instance stays old, since no policy lets it be updated
    first: int = 0  # the lowest ordinal that is measured

    @property
    def has_begun(self) -> bool:
        """Whether an instance exists, or another controller was asked to make some."""
        return bool(self.view.units or (self.view.carried and self.view.carried.uid))

    @property
    def goal(self) -> int:
        """The instances that are measured: those to be updated, or all."""
        return self.view.policy.wanted - self.first

    @property
    def progress(self) -> float:
        """The share of the measured instances that are updated and serve."""
        return min(1.0, self.ready / self.goal) if self.goal > 0 else 1.0

    @property
    def growth(self) -> float:
        """The share of the wanted instances that exist."""
        return self.reached / self.view.policy.wanted if self.view.policy.wanted else 1.0

    @property
    def is_whole(self) -> bool:
        """Whether exactly the wanted instances exist, and all serve."""
        units = self.view.units
        return len(units) == self.view.policy.wanted and all(unit.is_ready for unit in units)

    @property
    def is_done(self) -> bool:
        """Whether the roles that come after this one may be updated."""
        return self.is_whole and not self.has_old


@dataclass(frozen=True, slots=True)
class _Moment:
    """All roles, from a time on."""

    at: float
    spec: Object
    roles: Mapping[str, _RoleState]


class Roles(Checker):
    """The promises about roles and what ties them together."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self._moments: deque[_Moment] = deque()
        self._begun: set[str] = set()
        self._reached: dict[str, int] = {}
        self._taken: dict[str, set[int]] = {}  # old instances that were given up
        # Units that another controller was let update, and to what.
        self._released: dict[str, tuple[object, set[int]]] = {}
        self._uid = ""

    def commit(self, commit: Commit) -> None:
        """Judge a write that changes instances."""
        kind = self.simulated.kind
        if commit.kind not in (kind, kinds.POD, *self.simulated.unit_kinds):
            return
        workload = self.truth.workload
        if workload is None or workload["metadata"]["uid"] != self._uid:
            self._uid = workload["metadata"]["uid"] if workload else ""
            for held in (self._moments, self._begun, self._reached, self._taken, self._released):
                held.clear()
        if workload is None:
            return
        before = self._moments[-1] if self._moments else None
        now = self._observe(commit.at, workload["spec"])
        if before is not None and commit.writer and commit.kind != kind:
            self._judge(commit, before, now)
        self._begun |= {name for name, state in now.roles.items() if state.has_begun}
        self._moments.append(now)
        since = commit.at - self.scene.patience_with_parts
        if self.simulated.carriers:
            since -= self.scene.patience_with_parts
        while len(self._moments) > 1 and self._moments[1].at < since:
            self._moments.popleft()

    def _observe(self, at: float, spec: Object) -> _Moment:
        found = {}
        rules = self.simulated.list_rules(self.truth)
        together = {name for rule in rules if rule.is_together for name in rule.roles}
        for view in self.truth.lines():
            first = 0 if view.role in together else view.policy.partition
            found[view.role] = self._observe_role(view, spec, first)
            taken = self._taken.setdefault(view.role, set())
            taken.difference_update(unit.ordinal for unit in view.units)
            if view.is_stateless and len(view.units) >= view.policy.wanted:
                taken.clear()  # others stand in for them
        return _Moment(at, spec, found)

    def _observe_role(self, view: LineView, spec: Object, first: int) -> _RoleState:
        measured = range(first, view.policy.wanted)
        held = range(view.policy.partition, view.policy.wanted)
        new = [unit for unit in view.units if not self.simulated.is_old(unit, spec)]
        old = [unit for unit in view.units if unit not in new]
        highest = max((unit.ordinal + 1 for unit in view.units), default=0)
        told = [unit for unit in view.units if self.simulated.is_told(unit, spec)]
        updated = {unit.ordinal for unit in told}
        if view.is_stateless:
            # The partition keeps a number of old instances, whichever they are.
            old, highest = old[view.policy.partition :], len(view.units)
        else:
            old = [unit for unit in old if unit.ordinal in held]
            updated = {unit.ordinal for unit in told if unit.ordinal in measured}
            new = [unit for unit in new if unit.ordinal in measured]
        if view.carried is not None:
            updated = set(view.carried.told.intersection(measured))
        reached = max(highest, self._reached.get(view.role, 0))
        self._reached[view.role] = reached = min(reached, view.policy.wanted)
        return _RoleState(
            view,
            frozenset(updated),
            sum(unit.is_ready for unit in new),
            any(not self._is_kept(unit, spec) for unit in old),
            reached,
            any(self._is_kept(unit, spec) for unit in old),
            first,
        )

    def _is_kept(self, unit: Group, spec: Object) -> bool:
        return self.simulated.is_kept_old(unit, spec)

    def _judge(self, commit: Commit, before: _Moment, now: _Moment) -> None:
        views = self._list_seen(commit)
        for name, state in now.roles.items():
            known = before.roles.get(name)
            if known is None:
                continue
            if state.view.carried is not None:
                self._judge_carried(name, known, state, views)
                continue
            held = {unit.ordinal: unit for unit in known.view.units}
            made = {unit.ordinal for unit in state.view.units} - set(held)
            if made:
                self._check_start(name, views)
                place = len(held) if known.view.is_stateless else max(made)
                self._check_growth(name, known, place, views)
            for ordinal in self._list_given_up(before.spec, known, state):
                self._taken[name].add(ordinal)
                self._check_order(name, views)
                self._check_skew(name, state, views)

    def _judge_carried(
        self, name: str, known: _RoleState, state: _RoleState, views: list[_Moment]
    ) -> None:
        """Judge what a write asks of the controller that makes the units of a role."""
        before, now = known.view.carried, state.view.carried
        assert now is not None
        if before is None or not now.uid:
            return
        contents, released = self._released.get(name, (None, set()))
        if contents != now.contents:
            released = set()
        if before.uid != now.uid:
            self._check_start(name, views)
        elif new := self._find_old(state.view, views[-1].spec, now.told - before.told - released):
            self._check_partition(name, new, views)
            self._check_order(name, views)
            self._check_skew(name, state, views)
        self._released[name] = (now.contents, released | now.told)
        if now.asked > (before.asked if before.uid == now.uid else 0):
            self._check_growth(name, known, now.asked - 1, views)

    def _find_old(self, view: LineView, spec: Object, ordinals: frozenset[int]) -> frozenset[int]:
        """Those ordinals whose units are old, or missing while others of the role are old."""
        old = {unit.ordinal for unit in view.units if self.simulated.is_old(unit, spec)}
        new = {unit.ordinal for unit in view.units} - old if not view.is_stateless else set()
        return ordinals - new if old else frozenset()

    def _check_partition(self, name: str, ordinals: frozenset[int], views: list[_Moment]) -> None:
        """A4: no unit is let go that the user's partition keeps, or all by a pause."""
        held = [moment.roles[name].view.policy for moment in views if name in moment.roles]
        least = min((policy.partition for policy in held), default=0)
        if kept := sorted(ordinal for ordinal in ordinals if ordinal < least):
            self.breach(f"A4: role {name}: {kept} may be updated, and the partition is {least}")

    def _list_seen(self, commit: Commit) -> list[_Moment]:
        """The moments that the writer may have seen when it decided."""
        seen = self.truth.find_seen(commit.writer)
        moments = list(self._moments)
        later = [moment for moment in moments if moment.at >= seen]
        earlier = [moment for moment in moments if moment.at < seen]
        found = [*earlier[-1:], *later]
        if self.simulated.carriers:
            # What other controllers count is older; what the user asks for is not.
            since = seen - self.scene.patience_with_parts
            specs = [moment.spec for moment in found]
            found = [m for m in earlier[:-1] if m.at >= since and m.spec in specs] + found
        return found

    def _list_given_up(self, spec: Object, known: _RoleState, now: _RoleState) -> Iterator[int]:
        """Instances that were old before a write, and are updated or gone after it."""
        held = {unit.uid: unit for unit in now.view.units}
        wanted = known.view.policy.wanted
        if len(known.view.units) > wanted:
            return
        for unit in known.view.units:
            left = held.get(unit.uid)
            is_given_up = left is None or self.simulated.is_told(left, spec)
            is_wanted = known.view.is_stateless or unit.ordinal < wanted
            if is_given_up and is_wanted and not self.simulated.is_told(unit, spec):
                yield unit.ordinal

    def _check_start(self, name: str, views: list[_Moment]) -> None:
        if name in self._begun:
            return
        for other in views[-1].roles[name].view.after:
            if not any(other in m.roles and m.roles[other].is_whole for m in views):
                self.breach(f"G8: role {name} began before role {other} was ready")

    def _check_order(self, name: str, views: list[_Moment]) -> None:
        after = self._list_before(name, views[-1])
        for rule in self.simulated.list_rules(self.truth):
            if name in rule.order:
                after += rule.order[: rule.order.index(name)]
        for other in after:
            if not any(self._lets_go(other, moment, keeps=True) for moment in views):
                self.breach(f"G8: role {name} was updated before role {other}")

    def _list_before(self, name: str, moment: _Moment) -> list[str]:
        """The roles that one comes after, but for those that a rule updates later."""
        later: set[str] = set()
        for rule in self.simulated.list_rules(self.truth):
            if name in rule.order:
                later.update(rule.order[rule.order.index(name) :])
        return [each for each in moment.roles[name].view.after if each not in later]

    def _lets_go(self, other: str, moment: _Moment, *, keeps: bool = False) -> bool:
        """Whether a role is updated; ``keeps``: instances that may not be updated serve, too."""
        state = moment.roles.get(other)
        if state is None or (keeps and state.is_done):
            return True
        return not state.has_old and state.ready >= state.goal

    def _check_skew(self, name: str, state: _RoleState, views: list[_Moment]) -> None:
        for rule in self.simulated.list_rules(self.truth):
            if rule.update_skew is None or name not in rule.roles:
                continue
            count = len(state.updated | self._taken[name])
            if not any(self._is_within(rule, name, count, m, views) for m in views):
                held = {
                    other: f"{views[-1].roles[other].ready}/{views[-1].roles[other].goal}"
                    for other in rule.roles
                    if other in views[-1].roles
                }
                self.breach(f"G8: role {name} has {count} updated, and there are {held}")

    def _is_within(
        self, rule: RuleView, name: str, count: int, moment: _Moment, views: list[_Moment]
    ) -> bool:
        """Whether a decision fits the skew in one of the states that the operator may have seen."""
        alike = [each for each in views if each.spec == moment.spec]
        best: dict[str, _RoleState] = {}
        for each in alike:
            for other in rule.roles:
                state = each.roles.get(other)
                if state is None or state.goal <= 0 or self._waits(other, each):
                    continue
                if state.keeps_old and not state.has_old:
                    continue  # it waits for the user, so no other role waits for it
                if other not in best or state.progress > best[other].progress:
                    best[other] = state
        own = best.get(name)
        if own is None or len(best) < 2:
            return True
        slowest = min(best.values(), key=lambda state: (state.progress, -state.view.policy.wanted))
        assert rule.update_skew is not None
        skew = rule.update_skew
        share = skew / slowest.goal if isinstance(skew, int) else skew
        limit = floor((slowest.progress + share) * own.goal + _CLOSE)
        if own.progress <= slowest.progress + _CLOSE:
            limit = max(limit, own.ready + 1)
        return count <= min(own.goal, limit)

    def _waits(self, name: str, moment: _Moment) -> bool:
        """Whether a role is held back by another; then no other role is measured by it."""
        after = [each for each in self._list_before(name, moment) if each in moment.roles]
        if any(not moment.roles[each].is_done for each in after):
            return True
        for rule in self.simulated.list_rules(self.truth):
            earlier = rule.order[: rule.order.index(name)] if name in rule.order else ()
            if moment.roles[name].has_old and not all(self._lets_go(e, moment) for e in earlier):
                return True
        return False

    def _check_growth(
        self, name: str, known: _RoleState, ordinal: int, views: list[_Moment]
    ) -> None:
        wanted = known.view.policy.wanted
        if ordinal < known.reached or ordinal >= wanted:
            return
        for rule in self.simulated.list_rules(self.truth):
            if rule.growth_skew is None or name not in rule.roles:
                continue
            if not any(self._may_grow(rule, name, ordinal, moment) for moment in views):
                growth = {n: views[-1].roles[n].growth for n in rule.roles if n in views[-1].roles}
                self.breach(f"G8: role {name} got instance {ordinal}, and there are {growth}")

    def _may_grow(self, rule: RuleView, name: str, ordinal: int, moment: _Moment) -> bool:
        roles = [
            r for n, r in moment.roles.items() if n in rule.roles and not self._starts_later(n)
        ]
        if len(roles) < 2:
            return True
        growing = [role for role in roles if role.reached < role.view.policy.wanted]
        skew = rule.growth_skew
        assert skew is not None
        most = max((role.view.policy.wanted for role in roles), default=1)
        share = skew / most if isinstance(skew, int) else skew
        limit = min((role.growth for role in growing), default=1.0) + share
        wanted = moment.roles[name].view.policy.wanted
        # A role below the limit may grow by one instance, so that no role stands still.
        return ordinal >= wanted or ordinal / wanted < limit - _CLOSE

    def _starts_later(self, name: str) -> bool:
        moment = self._moments[-1]
        if name in self._begun or name not in moment.roles:
            return False
        after = moment.roles[name].view.after
        return any(each in moment.roles and not moment.roles[each].is_whole for each in after)
