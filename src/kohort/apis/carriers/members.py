"""
Members as every carrier reads them: the place of a pod in its group, and its health.

Each API writes that place in labels and annotations of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from kohort.apis.facts import Condition, Meta, PodFacts, Restarts
from kohort.cluster.numbers import find_whole
from kohort.model.observed import Crash, Member
from kohort.model.units import Phase

_RESTARTS_MANY = 2  # a container may restart once by bad luck
_BROKEN = (
    *("CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull"),
    *("CreateContainerConfigError", "InvalidImageName"),
)


@dataclass(frozen=True, slots=True)
class Reader:
    """How an API stores group, index and revision on pods and StatefulSets."""

    group_of: Callable[[Meta], int | None]  # the group of a pod
    index_of: Callable[[Meta], int | None]  # the place of a pod in its group; 0 is the entry
    revision_of: Callable[[Meta], str]
    size_of: Callable[[Meta], int]  # members of the group, by its entry pod


def read_member(reader: Reader, index: int, pod: PodFacts, is_current: bool) -> Member:
    """One pod as a member of its group."""
    status = pod.status
    is_alive = status.phase in ("Pending", "Running")
    condition, is_ready = pod.ready_condition, pod.is_ready
    return Member(
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        index=index,
        revision=reader.revision_of(pod.metadata),
        phase=_phase_of(pod),
        is_pending=status.phase in ("", "Pending"),
        has_restarted=is_alive and pod.restarts > 0,
        is_current=is_current,
        is_placed=bool(pod.spec.node_name),
        ready_since=read_moment(condition.last_transition_time) if condition and is_ready else None,
        was_ready=not is_ready and _was_ready(pod, condition),
        crash=_find_crash(pod),
        unready_since=None
        if is_ready or not condition
        else read_moment(condition.last_transition_time),
        has_recovered=pod.restarts > 0 and (is_ready or _has_recovered(pod, condition)),
    )


def _has_recovered(pod: PodFacts, condition: Condition | None) -> bool:
    """
    Whether a pod that restarted and is not ready was ready after its containers started.

    A Ready condition that changed after the last start can only have changed from true to false.
    """
    running = [c.state.get("running") or {} for c in pod.status.container_statuses or ()]
    if not running or not all(state.get("startedAt") for state in running) or condition is None:
        return False
    started = max(read_moment(state["startedAt"]) for state in running)
    return read_moment(condition.last_transition_time) > started


def _was_ready(pod: PodFacts, condition: Condition | None) -> bool:
    """
    Whether a pod that is not ready was ready before.

    The Ready condition exists before any container starts. If it changed after
    one had started, it can only have changed from true to false.
    """
    changed = read_moment(condition.last_transition_time) if condition else 0.0
    started = [_read_starts(container) for container in pod.status.container_statuses or ()]
    known = [moment for moments in started for moment in moments]
    return bool(known) and changed > min(known)


def _read_starts(container: Restarts) -> list[float]:
    states = (*container.state.values(), *container.last_state.values())
    return [read_moment(state["startedAt"]) for state in states if state.get("startedAt")]


def _find_crash(pod: PodFacts) -> Crash | None:
    """How the container that ended last ended, if it restarted or its pod has ended."""
    status = pod.status
    found = []
    for container in (*(status.container_statuses or ()), *(status.init_container_statuses or ())):
        ended = container.state.get("terminated") or container.last_state.get("terminated")
        if ended and (container.restart_count or pod.has_ended):
            moment = read_moment(ended.get("finishedAt"))
            code, reason = ended.get("exitCode"), str(ended.get("reason") or "")
            found.append(Crash(pod.metadata.name, container.name, code, reason, moment))
    return max(found, key=lambda crash: crash.ended_at, default=None)


def _is_crashing(pod: PodFacts) -> bool:
    """Whether a container crashes repeatedly, even if it runs at the moment."""
    crash = _find_crash(pod)
    return pod.restarts >= _RESTARTS_MANY and crash is not None and bool(crash.code)


def read_cost(text: str) -> int:
    """The deletion cost in an annotation; 0 if it is not a whole number."""
    negative = text.startswith("-")
    number = find_whole(text[1:] if negative else text)
    return 0 if number is None else -number if negative else number


def read_moment(stamp: str | None) -> float:
    """A timestamp in seconds; 0 if it is missing, cannot be read, or is of no year that UTC has."""
    if not stamp:
        return 0.0
    try:
        moment = datetime.fromisoformat(stamp).timestamp()
        datetime.fromtimestamp(moment, UTC)
    except (ValueError, OverflowError):
        return 0.0
    return moment


def _phase_of(pod: PodFacts) -> Phase:
    if pod.metadata.is_leaving:
        return Phase.LEAVING
    if pod.is_ready:
        return Phase.READY
    if pod.status.phase == "Failed" or pod.waits_for in _BROKEN or _is_crashing(pod):
        return Phase.BROKEN
    return Phase.STARTING
