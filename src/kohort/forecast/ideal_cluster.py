"""
A model cluster that carries out a plan at once, for forecasts.

It has no clock and no chance: the caller says what time it is. Units that leave are gone as soon
as nothing else is to be done, and units that start are ready after the seconds of a start. What
another controller does (a StatefulSet that makes the units below its count, a Deployment that
rolls its pods) is done here in its place.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from kohort.forecast.tallies import roll, settle
from kohort.forecast.units import join_roles, make_leaving, make_members, make_ready
from kohort.forecast.values import Move, UnitMove
from kohort.model.observed import Group, Instance, Observed, Progress, RoleInstances
from kohort.model.plans import Hold, Make, Plan, Step
from kohort.model.policies import RolloutPolicy
from kohort.model.reasons import ROLE
from kohort.model.units import GROUPS, Line, Phase, Reach
from kohort.model.workload import Part, Role, Workload

_SURPLUS = "there are more groups than wanted"


@dataclass(frozen=True, slots=True)
class IdealCluster:
    """The modelled units, and how long a start takes."""

    workload: Workload
    observed: Observed
    start_seconds: float
    base: str = ""  # the revision of new groups below the boundary, where a set makes them
    stuck: frozenset[str] = frozenset()  # incarnations that do not become ready
    made: int = 0  # counter of made units, for distinct incarnations
    # Units that do not become ready, of each role that another controller carries.
    stuck_units: Mapping[str, int] = field(default_factory=dict)

    def apply(self, plan: Plan, now: float) -> tuple["IdealCluster", tuple[UnitMove, ...]]:
        """The cluster after a plan, and the moves of units."""
        work = _Application(self, now)
        work.apply_groups(plan.step)
        for line, step in plan.steps.items():
            if line != GROUPS:
                work.apply_role(line, step)
        return work.finish(plan), tuple(work.moves)

    def drop_leaving(self) -> "IdealCluster":
        """The cluster without its terminating units."""
        groups = []
        for group in self.observed.groups:
            if group.phase is Phase.LEAVING:
                continue
            roles = tuple(_drop(role) for role in group.roles)
            is_same = all(a is b for a, b in zip(roles, group.roles, strict=True))
            groups.append(group if is_same else join_roles(group, roles, self.workload))
        if len(groups) == len(self.observed.groups) and all(
            a is b for a, b in zip(groups, self.observed.groups, strict=True)
        ):
            return self
        return self._with(groups)

    def find_due(self, now: float) -> float | None:
        """When the next unit becomes ready; None if none does."""
        moments = (self._due(unit, now) for unit in self._list_units())
        return min((m for m in (*moments, *self._tally_dues(now)) if m is not None), default=None)

    def advance(self, now: float) -> "IdealCluster":
        """The cluster at a later time, with all units ready that are due by then."""
        groups = []
        for group in self.observed.groups:
            if not group.roles:
                is_due = self._is_due(group, now)
                groups.append(make_ready(group, now) if is_due else group)
                continue
            roles = tuple(self._advance_role(role, now) for role in group.roles)
            is_same = all(a is b for a, b in zip(roles, group.roles, strict=True))
            groups.append(group if is_same else join_roles(group, roles, self.workload))
        return self._with(groups)

    def _advance_role(self, role: RoleInstances, now: float) -> RoleInstances:
        if role.tally is not None:
            return replace(role, tally=settle(role.tally, self.stuck_units.get(role.role, 0)))
        if not any(self._is_due(instance, now) for instance in role.instances):
            return role
        found = self.workload.find_role(role.role)
        parts = found.parts if found else ()
        instances = tuple(
            make_ready(instance, now, parts) if self._is_due(instance, now) else instance
            for instance in role.instances
        )
        return replace(role, instances=instances)

    def _is_due(self, unit: Instance, now: float) -> bool:
        moment = self._due(unit, now)
        return moment is not None and moment <= now

    def _due(self, unit: Instance, now: float) -> float | None:
        """When a unit becomes ready; None if it is ready, or never becomes so."""
        is_stuck = unit.incarnation in self.stuck and not unit.amended_at
        if unit.phase is not Phase.STARTING or is_stuck:
            return None
        return max(now, max(unit.made_at, unit.amended_at) + self.start_seconds)

    def _tally_dues(self, now: float) -> Iterator[float]:
        for role in (role for group in self.observed.groups for role in group.roles):
            stuck = self.stuck_units.get(role.role, 0)
            if role.tally is not None and role.tally != settle(role.tally, stuck):
                yield now + self.start_seconds

    def _list_units(self) -> Iterator[Instance]:
        for group in self.observed.groups:
            if not group.roles:
                yield group
            for role in group.roles:
                yield from role.instances

    def _with(self, groups: Iterable[Group]) -> "IdealCluster":
        found = tuple(sorted(groups, key=lambda group: group.ordinal))
        observed = replace(self.observed, groups=found, exist=len(found))
        return replace(self, observed=observed)


def _drop(role: RoleInstances) -> RoleInstances:
    kept = tuple(i for i in role.instances if i.phase is not Phase.LEAVING)
    return role if len(kept) == len(role.instances) else replace(role, instances=kept)


class _Application:
    """The application of one plan to the cluster."""

    def __init__(self, cluster: IdealCluster, now: float) -> None:
        self._cluster = cluster
        self._workload = cluster.workload
        self._now = now
        self._groups = {group.ordinal: group for group in cluster.observed.groups}
        self._made = cluster.made
        self._base = cluster.base
        self._progress = cluster.observed.progress
        self._stuck = {**cluster.stuck_units}
        self.moves: list[UnitMove] = []

    def finish(self, plan: Plan) -> IdealCluster:
        """The cluster with all that was applied."""
        failures = {**self._cluster.observed.role_failures}
        failures |= {line: step.failures for line, step in plan.steps.items() if line != GROUPS}
        observed = replace(
            self._cluster.observed,
            progress=self._progress,
            failures=plan.step.failures,
            role_failures={line: own for line, own in failures.items() if own},
        )
        cluster = replace(
            self._cluster,
            observed=observed,
            base=self._base,
            made=self._made,
            stuck_units=self._stuck,
        )
        return cluster._with(self._groups.values())

    def apply_groups(self, step: Step) -> None:
        """Take down, make and update groups."""
        reach = self._workload.reach
        for retired in step.retire:
            self._retire(retired.ordinal, retired.why)
        for ordinal in step.amend:
            self._groups[ordinal] = self._amend(
                self._groups[ordinal], self._workload.revision, GROUPS
            )
        for ordinal, _ in step.renew:
            group = self._groups[ordinal]
            if not group.roles:
                self._groups[ordinal] = self._restart(group)
        self._note(step)
        if reach is Reach.SUFFIX:
            self._act_as_set()
        for make in step.make:
            if make.ordinal not in self._groups:
                self._make_group(make)

    def _note(self, step: Step) -> None:
        """Record the step, where its carrier keeps a record."""
        held, rollout, target = self._progress, step.rollout, self._workload.revision
        if self._workload.reach in (Reach.ANY, Reach.COUNT):
            wanted = self._workload.groups
            base = held.base if held else ""
            self._progress = Progress(
                self._workload.rollout.partition, wanted, wanted, target, base=base
            )
            return
        if held is None:
            self._base = target
        elif self._is_rolled(held):
            self._base = held.target
        self._progress = Progress(
            boundary=rollout.boundary,
            count=rollout.count,
            noted=self._workload.groups,
            target=target,
            is_base=self._base == target,
            base=self._base if self._workload.reach is Reach.NOTED else "",
        )

    def _is_rolled(self, held: Progress) -> bool:
        """Whether all groups are ready on the last target, from which lost groups are then made."""
        units = self._groups.values()
        return (
            held.boundary == 0
            and len(units) == held.count
            and all(u.revision == held.target and u.phase is Phase.READY for u in units)
        )

    def _act_as_set(self) -> None:
        """Act as a StatefulSet: delete groups beyond its replicas, and make missing ones."""
        progress = self._progress
        assert progress is not None
        for ordinal in sorted((o for o in self._groups if o >= progress.count), reverse=True):
            self._retire(ordinal, _SURPLUS)
        for ordinal in range(progress.count):
            if ordinal not in self._groups:
                is_new = progress.is_base or ordinal >= progress.boundary or not self._base
                revision = progress.target if is_new else self._base
                self._make_group(Make(ordinal, revision))

    def _retire(self, ordinal: int, why: str) -> None:
        group = self._groups.get(ordinal)
        if group is None or group.phase is Phase.LEAVING:
            return
        roles = tuple(
            replace(role, instances=tuple(map(make_leaving, role.instances)))
            for role in group.roles
        )
        self._groups[ordinal] = replace(make_leaving(group), roles=roles)
        self.moves.append(UnitMove(Move.DELETE, GROUPS, ordinal, group.revision, why))

    def _make_group(self, make: Make) -> None:
        roles = self._cluster.observed.new_roles.get(make.revision, ())
        self._made += 1
        name = f"{self._workload.name}-{make.ordinal}.{self._made}"
        size = self._find_size(make.revision)
        made = Group(
            make.ordinal, make.revision, Phase.STARTING, name, size, made_at=self._now, roles=roles
        )
        if not roles:
            made = replace(made, members=make_members(made, self._now))
        self._groups[make.ordinal] = made
        self.moves.append(UnitMove(Move.CREATE, GROUPS, make.ordinal, make.revision))

    def _find_size(self, revision: str) -> int:
        """The size of a new group; that of an old revision equals the existing ones."""
        if revision != self._workload.revision:
            for group in self._cluster.observed.groups:
                if group.revision == revision:
                    return group.size
        return self._workload.group_size

    def _amend(self, unit: Group, revision: str, line: Line) -> Group:
        self.moves.append(UnitMove(Move.UPDATE, line, unit.ordinal, revision))
        changed = replace(unit, revision=revision, phase=Phase.STARTING, amended_at=self._now)
        return replace(changed, members=make_members(changed, self._now))

    def _restart(self, unit: Group) -> Group:
        changed = replace(unit, phase=Phase.STARTING, made_at=self._now)
        return replace(changed, members=make_members(changed, self._now))

    # Roles.

    def apply_role(self, line: Line, step: Step) -> None:
        """Take down, make and update instances of one role."""
        group = self._groups.get(line.group) if line.group is not None else None
        if group is None or group.phase is Phase.LEAVING:
            return
        asked = self._workload.find_role(line.role)
        roles = tuple(
            self._change_role(role, asked, line, step) if role.role == line.role else role
            for role in group.roles
        )
        assert line.group is not None
        self._groups[line.group] = join_roles(group, roles, self._workload)

    def _change_role(
        self, held: RoleInstances, asked: Role | None, line: Line, step: Step
    ) -> RoleInstances:
        if held.tally is not None:
            return self._count(held, asked, line, step)
        units = {unit.ordinal: unit for unit in held.instances}
        for retired in step.retire:
            unit = units[retired.ordinal]
            units[retired.ordinal] = make_leaving(unit)
            self.moves.append(UnitMove(Move.DELETE, line, unit.ordinal, unit.revision, retired.why))
        for ordinal, hold in step.held.items():
            units[ordinal] = _let_go(units[ordinal], hold)
        for ordinal in (*step.amend, *(o for o, _ in step.renew)):
            is_renewed = ordinal not in step.amend
            units[ordinal] = self._change(units[ordinal], held.revision, line, is_renewed)
        for make in step.make:
            if make.ordinal not in units:
                units[make.ordinal] = self._make_instance(make, held, asked, line)
        return replace(
            held,
            instances=tuple(unit for _, unit in sorted(units.items())),
            failures=step.failures,
            lost=(),
            grown=None if held.grown is None and not step.make else step.wanted,
        )

    def _change(self, unit: Instance, revision: str, line: Line, is_renewed: bool) -> Instance:
        """The unit while it is updated in place, or while an ended member is recreated."""
        revision = unit.revision if is_renewed else revision
        changed = replace(
            unit,
            revision=revision,
            phase=Phase.STARTING,
            amended_at=self._now,
            may_amend=False,
            is_preparing=False,
            is_unwanted=False,
        )
        if not is_renewed:
            self.moves.append(UnitMove(Move.UPDATE, line, unit.ordinal, revision))
        return replace(changed, members=make_members(changed, self._now, self._parts_of(line)))

    def _parts_of(self, line: Line) -> tuple[Part, ...]:
        role = self._workload.find_role(line.role)
        return role.parts if role else ()

    def _make_instance(
        self, make: Make, held: RoleInstances, asked: Role | None, line: Line
    ) -> Instance:
        self._made += 1
        alike = [i.size for i in held.instances if i.revision == make.revision]
        size = alike[0] if alike else (asked.size if asked else 1)
        name = f"{self._workload.name}-{line.role}-{make.ordinal}.{self._made}"
        made = Instance(make.ordinal, make.revision, Phase.STARTING, name, size, made_at=self._now)
        self.moves.append(UnitMove(Move.CREATE, line, make.ordinal, make.revision))
        return replace(made, members=make_members(made, self._now, self._parts_of(line)))

    def _count(
        self, held: RoleInstances, asked: Role | None, line: Line, step: Step
    ) -> RoleInstances:
        """Act as another controller that scales and rolls a role's units, one batch at a time."""
        count, policy = step.rollout.count, asked.rollout if asked else None
        assert held.tally is not None
        goal = max(0, count - step.rollout.boundary)
        batch = roll(held.tally, count, goal, policy or RolloutPolicy(count))
        for ordinal, why in batch.gone:
            self.moves.append(UnitMove(Move.DELETE, line, ordinal, held.revision, why))
        for ordinal in batch.made:
            self.moves.append(UnitMove(Move.CREATE, line, ordinal, held.revision))
        stuck = self._stuck.get(held.role, 0)
        self._stuck[held.role] = max(0, stuck - batch.mended)
        tally = batch.tally
        if not held.tally.is_told and any(blocker.reason == ROLE for blocker in step.blockers):
            # The operator keeps the old template until the roles before this one are updated.
            tally = replace(tally, is_seen=held.tally.is_seen, is_told=False)
        return replace(held, tally=tally, grown=count)


def _let_go(unit: Instance, hold: Hold) -> Instance:
    """The unit without the hold of a lifecycle hook."""
    if hold is Hold.DELETE:
        return replace(unit, delete_hold="", is_preparing=True)
    return replace(unit, update_hold="", is_preparing=True)
