"""
Lines: one value for each list of units, with its policies and the units that exist.

Every rule of scale, rollout and recovery is a function of one such value, whichever API
the workload comes from and whichever level of the tree the line is on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kohort.model.observed import Failure, Group, Instance, Observed, Progress, RoleInstances, Tally
from kohort.model.policies import (
    Amendment,
    Backoff,
    RecoveryPolicy,
    RolloutPolicy,
    Startup,
    Trigger,
    Victims,
)
from kohort.model.units import GROUPS, Level, Line, Reach
from kohort.model.workload import Part, Role, Workload

_USUAL_BACKOFF = Backoff()


@dataclass(frozen=True, slots=True)
class LineState:
    """One line: the user's policies for its units, and the units that exist."""

    line: Line
    target: str  # the revision that all its units should reach
    rollout: RolloutPolicy
    units: tuple[Instance, ...]
    progress: Progress | None = None
    failures: tuple[Failure, ...] = ()
    # Failures of the instances in each unit, which the lines of the instances record.
    inner_failures: tuple[Failure, ...] = ()
    recovery: RecoveryPolicy | None = None  # None: the policy of another level handles failures
    startup: Startup = Startup.TOGETHER
    victims: Victims = Victims.HIGHEST
    reach: Reach = Reach.ANY
    amendment: Amendment = Amendment.NEVER
    base: str = ""  # the revision of new units below the partition; empty: the target
    tally: Tally | None = None  # set where another controller makes the units
    may_roll: bool = True  # false: units keep their revision until their group is replaced
    is_ordered: bool = False  # the operator makes and deletes units one at a time, in order
    parts: tuple[Part, ...] = ()  # the parts of each unit, where its members start in an order
    ordinals: tuple[int, ...] = ()  # the ordinal of each rank, where units are numbered by rank
    taken: frozenset[int] = frozenset()  # ordinals that no new unit may have, if all are alike

    def name_unit(self, number: int) -> str:
        """The noun and ordinal of a unit, for messages: ``group 3``."""
        ordinal = self.ordinals[number] if number < len(self.ordinals) else number
        return f"{self.noun} {ordinal}"

    @property
    def wanted(self) -> int:
        """Units that the user asks for."""
        return self.rollout.wanted

    @property
    def backoff(self) -> Backoff:
        """How long the operator waits before it recreates a unit that fails repeatedly."""
        return self.recovery.backoff if self.recovery else _USUAL_BACKOFF

    @property
    def noun(self) -> str:
        """The noun for one unit, for messages: group or instance."""
        return self.rollout.level.value


def group_line(workload: Workload, observed: Observed) -> LineState:
    """The line of the groups themselves."""
    recovery: RecoveryPolicy | None = workload.recovery
    # Without a policy, the roles, where there are roles, renew their members one by one.
    is_unasked = workload.recovery.trigger is Trigger.NEVER and any(r.name for r in workload.roles)
    if workload.recovery.level is not Level.GROUP or is_unasked:
        recovery = None
    return LineState(
        line=GROUPS,
        target=workload.revision,
        rollout=workload.rollout,
        units=observed.groups,
        progress=observed.progress,
        failures=observed.failures,
        inner_failures=tuple(
            replace(failure, ordinal=line.group)
            for line, own in observed.role_failures.items()
            for failure in own
            if line.group is not None
        ),
        recovery=recovery,
        startup=workload.startup,
        victims=workload.victims,
        reach=workload.reach,
        amendment=workload.amendment,
        base=observed.progress.base if observed.progress else "",
        may_roll=workload.has_rollout,
    )


def role_lines(workload: Workload, group: Group) -> Iterator[LineState]:
    """The lines of one group: one for each role that it has or should have."""
    for held in group.roles:
        role = workload.find_role(held.role)
        yield _make_line(group, held, role)


def _make_line(group: Group, held: RoleInstances, role: Role | None) -> LineState:
    line = Line(group.ordinal, held.role)
    if role is None:
        # The user removed the role: its instances go with the group, or when the count drops.
        policy = RolloutPolicy(held.wanted, level=Level.INSTANCE)
        state = LineState(line, held.revision, policy, held.instances, failures=held.failures)
        return replace(state, may_roll=False)
    policy = RolloutPolicy(held.wanted, level=Level.INSTANCE)
    if role.rollout is not None:
        # A group that a partition protects keeps the counts of its own revision.
        policy = replace(role.rollout, wanted=held.wanted)
    return LineState(
        line=line,
        target=held.revision,
        rollout=policy,
        units=held.instances,
        failures=held.failures,
        recovery=role.recovery if role.recovery.level is Level.INSTANCE else None,
        startup=role.startup,
        victims=role.victims,
        reach=role.reach,
        amendment=role.amendment,
        base=held.base,
        tally=held.tally,
        may_roll=role.rollout is not None,
        is_ordered=role.is_ordered,
        parts=role.parts,
        taken=held.taken,
    )
