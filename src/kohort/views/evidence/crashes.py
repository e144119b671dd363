"""
Crashes of pods that are gone, from the failures that the operator recorded for a unit.

A unit is a group, or an instance of a role where instances are made anew by themselves. The
record names container and exit code, and how often in a row the unit failed. One failure is
shown, and asks nothing of the user; from the second on the unit is in a crash loop, until it has
been ready for as long as its next wait would be. So the verdict is the same while the unit
waits, while it starts, and while it is ready for a moment.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from kohort.model.observed import Failure, Instance, Observed, RoleInstances
from kohort.model.policies import Backoff
from kohort.model.workload import Role, Workload
from kohort.planning.failures import find_failure, is_recent, seconds_since, trust_seconds
from kohort.views.troubles import CRASH_LOOP, RESTARTED, Trouble, describe_exit

_FAILURES_MANY = 2


@dataclass(frozen=True, slots=True)
class PastCrash:
    """A crash from a failure record, and the present members of the unit that it is about."""

    trouble: Trouble
    members: frozenset[str]


def remember_crashes(observed: Observed, workload: Workload, now: datetime) -> Iterator[PastCrash]:
    """The crashes of the wanted revision that its units have not got over yet."""
    groups = {group.ordinal: group for group in observed.groups}
    for failure in observed.failures:
        group = groups.get(failure.ordinal)
        if group is None and failure.ordinal >= workload.groups:
            continue  # an extra group of a rollout, which was given back
        if failure.revision != workload.revision:
            continue
        if _is_in_force(failure, group, workload.recovery.backoff, now.timestamp()):
            yield _make_crash(failure, failure.ordinal, group, "group")
    for line, failures in observed.role_failures.items():
        if line.group is None or (line.group not in groups and line.group >= workload.groups):
            continue
        found, role = groups.get(line.group), workload.find_role(line.role)
        if found and role and role.rollout is None and found.revision != workload.revision:
            continue  # a rollout replaces the whole group
        # A group of which all pods are gone will be made again, with the same roles.
        roles = found.roles if found else observed.new_roles.get(workload.revision, ())
        held = next((r for r in roles if r.role == line.role), None)
        if role and held:
            yield from _remember_instances(failures, line.group, role, held, now)


def _remember_instances(
    failures: Iterable[Failure], group: int, role: Role, held: RoleInstances, now: datetime
) -> Iterator[PastCrash]:
    """The crashes of instances of one role in one group."""
    instances = {instance.ordinal: instance for instance in held.instances}
    for failure in failures:
        instance = instances.get(failure.ordinal)
        if instance is None and failure.ordinal >= held.wanted:
            continue  # the user asks for fewer by now
        if failure.revision != held.revision:
            continue
        if _is_in_force(failure, instance, role.recovery.backoff, now.timestamp()):
            yield _make_crash(failure, group, instance, "instance")


def _is_in_force(failure: Failure, unit: Instance | None, backoff: Backoff, now: float) -> bool:
    # An edited unit has no revision. Until it serves, the age of the failure decides.
    if unit is None or (not unit.revision and unit.ready_since is None):
        return is_recent(failure, backoff, now)
    if find_failure({failure.ordinal: failure}, unit, backoff) is None:
        return False
    since = unit.ready_since
    return since is None or seconds_since(since, now) < trust_seconds(failure.count, backoff)


def _make_crash(failure: Failure, ordinal: int, unit: Instance | None, noun: str) -> PastCrash:
    crash = failure.crash
    is_looping = failure.count >= _FAILURES_MANY
    present = next((m for m in unit.members if m.name == crash.member), None) if unit else None
    trouble = Trouble(
        member=crash.member,
        ordinal=ordinal,
        reason=CRASH_LOOP if is_looping else RESTARTED,
        message=describe_exit(crash.code, crash.reason),
        since=datetime.fromtimestamp(failure.at, UTC),
        is_stuck=is_looping,
        container=crash.container,
        uid=present.uid if present else "",
        restarts=failure.count,
        is_past=present is None or not present.has_restarted,
        is_remembered=True,
        unit=noun,
    )
    return PastCrash(trouble, frozenset(m.name for m in unit.members) if unit else frozenset())
