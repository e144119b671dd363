"""
What keeps one member from serving, read off its pod.

A trouble is stuck when time alone will not end it: an image that cannot be
pulled, a container that crashes, no node that fits, a gate, a pod that does not
end. What merely starts is a trouble too, but not a stuck one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kohort.cluster.objects import Object, find_condition, metadata_of
from kohort.views.ages import find_time

# A node may be full for a moment while old pods leave; a pod may take its time to end.
SCHEDULING_PATIENCE = timedelta(seconds=10)
ENDING_PATIENCE = timedelta(seconds=60)
_STARTING = ("ContainerCreating", "PodInitializing")
_OUT_OF_MEMORY = "OOMKilled"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why one member does not serve."""

    member: str
    ordinal: int  # of its group
    reason: str
    message: str
    since: datetime | None
    is_stuck: bool
    container: str = ""
    node: str = ""
    uid: str = ""


@dataclass(frozen=True, slots=True)
class _Cause:
    reason: str
    message: str
    since: datetime | None
    is_stuck: bool
    container: str = ""


def find_trouble(pod: Object, ordinal: int, now: datetime) -> Trouble | None:
    """What keeps this pod from serving, if anything does."""
    ready = find_condition(pod, "Ready")
    leaving = metadata_of(pod).get("deletionTimestamp")
    if not leaving and ready and ready.get("status") == "True":
        return None
    cause = (
        _ending(pod, now)
        or _failed(pod)
        or _unplaced(pod, now)
        or _container(pod)
        or _Cause("NotReady", "it has not become ready yet", _unready_since(pod), False)
    )
    return Trouble(
        member=metadata_of(pod).get("name", ""),
        ordinal=ordinal,
        reason=cause.reason,
        message=cause.message,
        since=cause.since or find_time(metadata_of(pod).get("creationTimestamp")),
        is_stuck=cause.is_stuck,
        container=cause.container,
        node=(pod.get("spec") or {}).get("nodeName", ""),
        uid=metadata_of(pod).get("uid", ""),
    )


def _ending(pod: Object, now: datetime) -> _Cause | None:
    due = find_time(metadata_of(pod).get("deletionTimestamp"))
    if due is None:
        return None
    return _Cause("Terminating", "it is being deleted", due, now - due > ENDING_PATIENCE)


def _failed(pod: Object) -> _Cause | None:
    status = pod.get("status") or {}
    if status.get("phase") != "Failed":
        return None
    message = status.get("message") or "the pod has failed"
    return _Cause(status.get("reason") or "Failed", message, _unready_since(pod), True)


def _unplaced(pod: Object, now: datetime) -> _Cause | None:
    gates = [gate.get("name", "") for gate in (pod.get("spec") or {}).get("schedulingGates") or ()]
    created = find_time(metadata_of(pod).get("creationTimestamp"))
    if gates:
        message = f"it is not scheduled before the gate {', '.join(gates)} is removed"
        return _Cause("SchedulingGated", message, created, _is_over(created, now))
    placed = find_condition(pod, "PodScheduled")
    if placed is None and not (pod.get("spec") or {}).get("nodeName"):
        scheduler = (pod.get("spec") or {}).get("schedulerName") or "default-scheduler"
        message = f"the scheduler {scheduler} has not looked at it yet: does it run?"
        return _Cause("WaitingForScheduler", message, created, _is_over(created, now))
    if placed is None or placed.get("status") != "False":
        return None
    since = find_time(placed.get("lastTransitionTime")) or created
    reason = placed.get("reason") or "Unschedulable"
    return _Cause(reason, placed.get("message") or "no node fits", since, _is_over(since, now))


def _is_over(since: datetime | None, now: datetime) -> bool:
    return since is not None and now - since > SCHEDULING_PATIENCE


def _container(pod: Object) -> _Cause | None:
    status = pod.get("status") or {}
    seen = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    causes = [cause for found in seen if (cause := _waiting(pod, found)) is not None]
    return min(causes, key=lambda cause: not cause.is_stuck, default=None)


def _waiting(pod: Object, status: Object) -> _Cause | None:
    waiting = (status.get("state") or {}).get("waiting") or {}
    reason = waiting.get("reason", "")
    if not reason:
        return None
    since, name = _unready_since(pod), status.get("name", "")
    if reason in _STARTING:
        return _Cause(reason, f"container {name} is being started", since, False, name)
    return _Cause(reason, _describe(status, waiting), since, True, name)


def _describe(status: Object, waiting: Object) -> str:
    ended: dict[str, Any] = (status.get("lastState") or {}).get("terminated") or {}
    if not ended:
        return str(waiting.get("message") or f"container {status.get('name', '')} does not run")
    words = [f"exit {ended.get('exitCode', '?')}"]
    if ended.get("reason") == _OUT_OF_MEMORY:
        words.append("out of memory")
    elif ended.get("message"):
        words.append(str(ended["message"]).strip())
    count = status.get("restartCount", 0)
    return ", ".join((*words, f"{count} restart{'' if count == 1 else 's'}"))


def _unready_since(pod: Object) -> datetime | None:
    ready = find_condition(pod, "Ready") or {}
    return find_time(ready.get("lastTransitionTime"))
