"""
Failures: their records, how long a failed group waits, and when the operator trusts it again.

The first failure of a group costs no wait, the second the base of its backoff, then twice as
long each time up to a maximum: ten seconds and five minutes, unless the user sets others. A
group that lived for long enough (ten minutes) before it failed starts from the first again, and so
does a group of another revision: a fixed template does not wait for the failures of a broken one.
The operator trusts a failed group again when it has been ready for as long as its next wait.

A record names the incarnation that failed, so the operator writes one record for each failure. The
record counts for the next incarnation too, unless that was made long after. A timestamp of another
clock that lies more than a minute ahead shows only that the clocks differ: it counts as long ago.
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
    """Seconds since a timestamp; zero if it is slightly ahead, infinite if far ahead."""
    if moment > now + SKEW_SECONDS_MAX:
        return float("inf")
    return max(0.0, now - moment)


def wait_seconds(count: int, backoff: Backoff) -> float:
    """Seconds until the operator recreates a group after so many failures in a row."""
    return backoff.wait_seconds(count)


def trust_seconds(count: int, backoff: Backoff) -> float:
    """Seconds that a group must be ready to be trusted after so many failures in a row."""
    return wait_seconds(count + 1, backoff)


def is_recent(failure: Failure, backoff: Backoff, now: float) -> bool:
    """Whether a failure record still counts for a group that is missing now."""
    return seconds_since(failure.at, now) < _memory_seconds(failure, backoff)


def _memory_seconds(failure: Failure, backoff: Backoff) -> float:
    """Seconds that a failure counts for later incarnations: the quiet time plus our backoff."""
    return backoff.quiet_seconds + wait_seconds(failure.count, backoff)


def find_failure(
    failures: Mapping[int, Failure], group: Instance, backoff: Backoff
) -> Failure | None:
    """The failure record that still counts for a group: its own or its predecessor's."""
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
    """The record of a new failure; ``last`` is the record that counted for the group so far."""
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

    The carrier's revision wins over a label, which another client may have changed. An edited
    group may have no revision any more: then the one before the edit counts, or that of its entry
    member where the revision before is unknown.
    """
    entry = next((m for m in group.members if m.index == 0 and m.is_current), None)
    return group.revision or group.made_from or (entry.revision if entry is not None else "")


def keep_failures(
    held: tuple[Failure, ...], new: tuple[Failure, ...], now: float, backoff: Backoff
) -> tuple[Failure, ...]:
    """The failure records to store: the newest of each group, at most ``RECORDS_MAX``."""
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
