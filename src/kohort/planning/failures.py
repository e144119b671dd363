"""
Failures: what is remembered of them, how long a failed group waits, and when it is trusted again.

The first failure of a group costs no wait, the second the base of its backoff, then twice as
long each time up to a maximum: ten seconds and five minutes, where the user says nothing else. A
group that lived for long enough (ten minutes) before it failed starts from the first again, and so
does one of another revision: a mended template does not wait for the sins of a broken one.
A failed group is trusted again when it has been ready for as long as its next wait would be.

A record names the incarnation that failed, so it is written once for each failure, and it speaks of
the next incarnation too, unless that was made long after. A moment of another clock that lies more
than a minute ahead says only that the clocks disagree: it counts as long ago.
"""

from collections.abc import Mapping

from kohort.model.observed import Crash, Failure, Instance
from kohort.model.policies import Backoff
from kohort.model.units import GROUPS, Line

SKEW_SECONDS_MAX = 60.0
# An annotation holds 256 KiB; a record takes less than 400 bytes.
RECORDS_MAX = 500
KEPT_SECONDS_MIN = 3600.0


def seconds_since(moment: float, now: float) -> float:
    """How long ago a moment is; one of a clock that runs ahead a little counts as now."""
    if moment > now + SKEW_SECONDS_MAX:
        return float("inf")
    return max(0.0, now - moment)


def wait_seconds(count: int, backoff: Backoff) -> float:
    """How long a group waits after so many failures in a row, before it is made anew."""
    return backoff.wait_seconds(count)


def trust_seconds(count: int, backoff: Backoff) -> float:
    """How long a group must be ready after so many failures in a row, before it is trusted."""
    return wait_seconds(count + 1, backoff)


def is_recent(failure: Failure, backoff: Backoff, now: float) -> bool:
    """Whether a failure still speaks of a group that is missing now."""
    return seconds_since(failure.at, now) < _memory_seconds(failure, backoff)


def _memory_seconds(failure: Failure, backoff: Backoff) -> float:
    """How long a failure is held against what comes after it: our own wait is not quiet."""
    return backoff.quiet_seconds + wait_seconds(failure.count, backoff)


def find_failure(
    failures: Mapping[int, Failure], group: Instance, backoff: Backoff
) -> Failure | None:
    """The failure that a group still answers for: its own, or that of the one it stands in for."""
    last = failures.get(group.ordinal)
    if last is None or last.revision != _find_origin(group):
        return None
    if last.incarnation == group.incarnation:
        return last
    apart = group.made_at - (last.crash.ended_at or last.at)
    return last if apart < _memory_seconds(last, backoff) else None


def record_failure(
    last: Failure | None,
    group: Instance,
    crash: Crash,
    now: float,
    backoff: Backoff,
    line: Line = GROUPS,
) -> Failure:
    """What is remembered of a new failure; ``last`` is the one that the group answers for."""
    ended = crash.ended_at or now
    begun = group.made_at
    if last is not None and last.incarnation == group.incarnation:
        begun = last.crash.ended_at or last.at
    is_quiet = ended - begun >= backoff.quiet_seconds
    count = 1 if last is None or is_quiet else last.count + 1
    return Failure(group.ordinal, _find_origin(group), group.incarnation, count, now, crash, line)


def _find_origin(group: Instance) -> str:
    """
    The revision that a group was made from.

    Where the carrier knows it, a label that was changed since says nothing. A group that was
    edited may be of no revision by now: then its entry tells of which it was.
    """
    entry = next((m for m in group.members if m.index == 0 and m.is_current), None)
    return group.revision or (entry.revision if entry is not None else "")


def keep_failures(
    held: tuple[Failure, ...], new: tuple[Failure, ...], now: float, backoff: Backoff
) -> tuple[Failure, ...]:
    """All that is remembered after these failures: the newest of each group, and not too many."""
    if not new:
        return held
    fresh = {failure.ordinal: failure for failure in new[:RECORDS_MAX]}
    kept_seconds = max(KEPT_SECONDS_MIN, backoff.quiet_seconds + backoff.max_seconds)
    others = [
        failure
        for failure in held
        if failure.ordinal not in fresh and seconds_since(failure.at, now) < kept_seconds
    ]
    others.sort(key=lambda failure: failure.at, reverse=True)
    kept = (*fresh.values(), *others[: RECORDS_MAX - len(fresh)])
    return tuple(sorted(kept, key=lambda failure: failure.ordinal))
