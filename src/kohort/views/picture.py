"""
A picture: one workload at one moment, read and planned, which every view is made from.

The plan is computed and not carried out: it says what the operator would do next, and
what keeps it from the rest.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from kohort.apis.api import Api, InvalidWorkload, Reading, StoredRevision
from kohort.cluster.objects import Object, name_of, namespace_of
from kohort.model.observed import Group
from kohort.model.plans import LineReport, Plan, Report
from kohort.model.policies import RecoveryPolicy, Trigger
from kohort.model.units import Phase
from kohort.planning.plan import plan
from kohort.views.evidence.children import blame_holders, find_refusals
from kohort.views.evidence.cluster import NO_FACTS, ClusterFacts
from kohort.views.evidence.crashes import remember_crashes
from kohort.views.samples import Sample
from kohort.views.troubles import CRASH_LOOP, RESTARTED, RESTARTS_MANY, Trouble, find_trouble

_SHORT = 8


@dataclass(frozen=True, slots=True)
class Picture:
    """One workload at one moment."""

    api: Api
    sample: Sample
    now: datetime
    reading: Reading[object] | None  # None: it cannot be planned, and ``fault`` says why
    plan: Plan | None
    fault: InvalidWorkload | None
    troubles: tuple[Trouble, ...]  # stuck ones first
    revisions: tuple[StoredRevision, ...]
    facts: ClusterFacts = NO_FACTS
    role: str = ""  # the role that the picture is limited to; empty: the whole workload

    @property
    def root(self) -> Object:
        """The workload's own object."""
        return self.sample.snapshot.root

    @property
    def name(self) -> str:
        """The workload's name."""
        return name_of(self.root)

    @property
    def namespace(self) -> str:
        """The workload's namespace."""
        return namespace_of(self.root)

    @property
    def reference(self) -> str:
        """How a person names it, such as ``short/name``."""
        return f"{self.api.short_name}/{self.name}"

    @property
    def units(self) -> str:
        """The noun for the units of this workload, such as groups or instances."""
        if self.role:
            return f"instances of role {self.role}"
        return "instances" if self.is_one_group else "groups"

    @property
    def is_one_group(self) -> bool:
        """Whether the workload itself is the only group, so that people count its instances."""
        return self.reading is not None and self.reading.workload.is_one_group

    def tell_group(self, ordinal: int) -> int | None:
        """The ordinal of a group; None where the workload itself is the only group."""
        return None if self.is_one_group else ordinal

    def count_units(self, report: Report) -> tuple[int, int]:
        """How many units a plan's report wants, and how many of these are ready."""
        if self.role or not self.is_one_group:
            return report.wanted, report.wanted_ready
        counts = report.roles.values()
        return sum(c.wanted for c in counts), sum(min(c.ready, c.wanted) for c in counts)

    def describe_missing(self, report: Report) -> str:
        """How many units of a plan's report are not ready."""
        wanted, ready = self.count_units(report)
        if wanted == ready:
            return f"all {wanted} {self.units} are ready, and others are still to go"
        return f"{wanted - ready} of {wanted} {self.units} are not ready"

    @property
    def stuck(self) -> tuple[Trouble, ...]:
        """The troubles that time alone will not end."""
        return tuple(trouble for trouble in self.troubles if trouble.is_stuck)

    @property
    def held(self) -> tuple[str, ...]:
        """The roles whose rollout a user has paused; an empty name stands for all of it."""
        return self.api.verbs.list_held(self.root) if self.api.verbs else ()

    @property
    def is_held(self) -> bool:
        """Whether a user has paused its rollout, or that of every role that has a step to take."""
        held = self.held
        if not held or "" in held:
            return bool(held)
        known = dict(_roles(self.plan.report if self.plan else None))
        if not known and self.api.verbs is not None:  # the roles roll below this object
            return set(self.api.verbs.list_roles(self.root)) <= set(held)
        asked = {self.role} if self.role else {r for r, c in known.items() if c.is_updating}
        return asked <= set(held)

    @property
    def is_moving(self) -> bool:
        """Whether the plan has a step to take now."""
        reading, decided = self.reading, self.plan
        has_groups = self.api.read_verdict(self.root) is None
        if reading is None or decided is None or not has_groups:
            return False
        rollout, progress = decided.step.rollout, reading.observed.progress
        if progress is None or not progress.is_seen:
            return True
        if progress.target != reading.workload.revision:
            return True
        if self.role and _has_own_rollout(reading, self.role):
            steps = [step for line, step in decided.steps.items() if line.role == self.role]
            return any(s.make or s.retire or s.amend or s.restarts for s in steps)
        if decided.step.restarts or rollout.replace:
            return True
        return (rollout.boundary, rollout.count) != (progress.boundary, progress.count)

    def name_revision(self, key: str) -> str:
        """The number that people know a revision by, or the start of its key."""
        numbers = [revision.number for revision in self.revisions if revision.key == key]
        return str(numbers[-1]) if numbers else key[:_SHORT]

    def find_former_revision(self) -> str:
        """The revision that most stale groups have; nothing if none is stale."""
        if self.reading is None:
            return ""
        target = self.reading.workload.revision
        groups = self.reading.observed.groups
        stale = Counter(find_revision(group) for group in groups) - Counter({target: len(groups)})
        del stale[""]
        return stale.most_common(1)[0][0] if stale else ""


def _roles(report: Report | None) -> Iterable[tuple[str, LineReport]]:
    return report.roles.items() if report else ()


def _has_own_rollout(reading: Reading[object], name: str) -> bool:
    role = reading.workload.find_role(name)
    return role is not None and role.rollout is not None


def find_revision(group: Group) -> str:
    """
    The revision that all members of a group carry; nothing if they differ.

    A plan may take a group for stale that carries the right key, so it has none there.
    """
    carried = {member.revision for member in group.members if member.is_current}
    return group.revision or (carried.pop() if len(carried) == 1 else "")


def take_picture(
    api: Api, sample: Sample, now: datetime, facts: ClusterFacts = NO_FACTS
) -> Picture:
    """Read and plan one snapshot; ``facts`` are what is known of nodes, events and operator."""
    revisions = api.verbs.list_revisions(sample.snapshot) if api.verbs else ()
    try:
        reading = api.read_checked(sample.snapshot)
    except InvalidWorkload as fault:
        return Picture(api, sample, now, None, None, fault, (), revisions, facts)
    decided = plan(reading.workload, reading.observed, now.timestamp())
    troubles = find_troubles(reading, sample, now, facts)
    return Picture(api, sample, now, reading, decided, None, troubles, revisions, facts)


def find_troubles(
    reading: Reading[object], sample: Sample, now: datetime, facts: ClusterFacts
) -> tuple[Trouble, ...]:
    """All troubles that keep members from serving, the stuck ones first."""
    observed = reading.observed
    troubles = _troubles(reading, sample, now, facts)
    found = blame_holders(troubles, observed.groups, sample.snapshot)
    refused = find_refusals(sample.snapshot, observed, facts, reading.workload.groups, now)
    live = tuple(_leave_to_records(t, reading.workload.recovery) for t in (*found, *refused))
    # The failure record of a unit outlives its pods, so it goes before what its present pods say.
    past = tuple(remember_crashes(observed, reading.workload, now))
    recorded = frozenset[str]().union(*(crash.members for crash in past))
    told = [crash.trouble for crash in past]
    told += [t for t in live if not (t.member in recorded and t.is_crash)]
    # A crash may come from another member that does not start, so other causes are listed first.
    return tuple(sorted(told, key=lambda t: (not t.is_stuck, t.ordinal, t.is_stuck and t.is_crash)))


def _leave_to_records(trouble: Trouble, recovery: RecoveryPolicy) -> Trouble:
    """
    A first crash of a member that takes its group along is no loop yet.

    The group is made anew, and what is recorded of it says whether it fails again and again.
    """
    is_first = trouble.reason == CRASH_LOOP and trouble.restarts < RESTARTS_MANY
    if not is_first or recovery.trigger is Trigger.NEVER:
        return trouble
    return replace(trouble, reason=RESTARTED, is_stuck=False)


def _troubles(
    reading: Reading[object], sample: Sample, now: datetime, facts: ClusterFacts
) -> Iterator[Trouble]:
    for group in reading.observed.groups:
        for member in group.members:
            if member.phase is Phase.READY or not member.is_current:
                continue
            pod = sample.find_member(member.name)
            found = find_trouble(pod, group.ordinal, now, facts) if pod is not None else None
            if found is not None:
                yield found
