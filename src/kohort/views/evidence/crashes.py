"""
Crashes of pods that are gone, from the failures that the operator recorded for a group.

The record names container and exit code, and how often in a row the group failed. One
failure is shown, and asks nothing of the user; from the second on the group is in a crash loop,
until it has been ready for as long as its next wait would be. So the verdict is the same
while the group waits, while it starts, and while it is ready for a moment.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from kohort.model.observed import Failure, Group, Observed
from kohort.model.policies import Backoff
from kohort.model.workload import Workload
from kohort.planning.failures import find_failure, is_recent, seconds_since, trust_seconds
from kohort.views.troubles import CRASH_LOOP, RESTARTED, Trouble, describe_exit

_FAILURES_MANY = 2


def remember_crashes(observed: Observed, workload: Workload, now: datetime) -> Iterator[Trouble]:
    """The crashes of the wanted revision that its groups have not got over yet."""
    groups = {group.ordinal: group for group in observed.groups}
    for failure in observed.failures:
        group = groups.get(failure.ordinal)
        if group is None and failure.ordinal >= workload.groups:
            continue  # an extra group of a rollout, which was given back
        if failure.revision != workload.revision:
            continue
        if _is_in_force(failure, group, workload.recovery.backoff, now.timestamp()):
            yield _make_trouble(failure, group)


def _is_in_force(failure: Failure, group: Group | None, backoff: Backoff, now: float) -> bool:
    # An edited group has no revision. Until it serves, the age of the failure decides.
    if group is None or (not group.revision and group.ready_since is None):
        return is_recent(failure, backoff, now)
    if find_failure({failure.ordinal: failure}, group, backoff) is None:
        return False
    since = group.ready_since
    return since is None or seconds_since(since, now) < trust_seconds(failure.count, backoff)


def _make_trouble(failure: Failure, group: Group | None) -> Trouble:
    crash = failure.crash
    is_looping = failure.count >= _FAILURES_MANY
    present = next((m for m in group.members if m.name == crash.member), None) if group else None
    return Trouble(
        member=crash.member,
        ordinal=failure.ordinal,
        reason=CRASH_LOOP if is_looping else RESTARTED,
        message=describe_exit(crash.code, crash.reason),
        since=datetime.fromtimestamp(failure.at, UTC),
        is_stuck=is_looping,
        container=crash.container,
        uid=present.uid if present else "",
        restarts=failure.count,
        is_past=present is None or not present.has_restarted,
        is_remembered=True,
    )
