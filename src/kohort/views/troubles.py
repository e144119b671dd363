"""
The trouble that keeps one member from serving, from the status and events of its pod.

A trouble is stuck when time alone will not end it: an image that cannot be
pulled, a container that crashes, a ConfigMap that is missing, no node that fits, a gate, a node
that does not answer, a pod that does not end. A pod that merely starts has a trouble too, but not
a stuck one.

A container that crashes again and again is in trouble between two crashes as well: it
runs then, and is not ready. Messages hold no counts and no ages, so that the same
trouble has the same words each time it is read.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from kohort.cluster.objects import Object, find_condition, metadata_of
from kohort.views.ages import find_time
from kohort.views.evidence.cluster import NO_FACTS, ClusterFacts, find_text, first_seen
from kohort.views.evidence.volumes import CREATING, FAILED_MOUNT, find_mount_warning

# A node may be full for a moment while old pods leave; a pod may take its time to end.
SCHEDULING_PATIENCE = timedelta(seconds=10)
ENDING_PATIENCE = timedelta(seconds=60)
CRASH_LOOP, RESTARTED = "CrashLoopBackOff", "Restarted"
NODE_LOST, TERMINATING = "NodeNotReady", "Terminating"
# A volume may be mounted at the second try, when the node has read the ConfigMap or Secret.
MOUNTING_PATIENCE = timedelta(seconds=10)
_OUT_OF_MEMORY = "OOMKilled"
RESTARTS_MANY = 2  # a container may restart once by bad luck


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
    restarts: int = 0  # of the container, or of the unit that is remembered
    is_past: bool = False  # the pod that it happened to is gone
    is_remembered: bool = False  # read off a record, not off the pod
    unit: str = "group"  # the noun of the unit that the record is about
    tried: datetime | None = None  # when the API server last refused the pod, if an event says so

    @property
    def is_crash(self) -> bool:
        """Whether a container of it has crashed."""
        return self.reason in (CRASH_LOOP, RESTARTED)

    @property
    def details(self) -> str:
        """The message with the number of restarts, which changes from one reading to the next."""
        if not self.is_crash:
            return self.message
        if self.is_remembered:
            return f"{self.message}, {self.unit} restarted {self.restarts} times in a row"
        return f"{self.message}, {self.restarts} restart{'' if self.restarts == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Cause:
    reason: str
    message: str
    since: datetime | None
    is_stuck: bool
    container: str = ""
    restarts: int = 0


def find_trouble(
    pod: Object, ordinal: int, now: datetime, facts: ClusterFacts = NO_FACTS
) -> Trouble | None:
    """What keeps this pod from serving, if anything does."""
    ready = find_condition(pod, "Ready")
    leaving = metadata_of(pod).get("deletionTimestamp")
    if not leaving and ready and ready.get("status") == "True":
        return None
    cause = (
        _lost(pod, facts)
        or _ending(pod, now)
        or _failed(pod)
        or _unplaced(pod, now)
        or _unmounted(pod, facts, now)
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
        restarts=cause.restarts,
    )


def find_patience_end(trouble: Trouble) -> datetime | None:
    """When a trouble that is not stuck will be, if nothing happens; None if time alone ends it."""
    if trouble.is_stuck or trouble.since is None:
        return None
    if trouble.reason == TERMINATING:
        return trouble.since + ENDING_PATIENCE
    if trouble.reason in ("SchedulingGated", "WaitingForScheduler", "Unschedulable"):
        return trouble.since + SCHEDULING_PATIENCE
    return trouble.since + MOUNTING_PATIENCE if trouble.reason == FAILED_MOUNT else None


def excuse(trouble: Trouble, holder: str) -> Trouble:
    """The trouble of a pod that would have ended if another object did not hold it up."""
    message = f"it is being deleted, and waits for {holder}"
    return replace(trouble, message=message, is_stuck=False)


def _lost(pod: Object, facts: ClusterFacts) -> _Cause | None:
    """A pod whose node does not answer: it does not serve, and cannot end either."""
    name = (pod.get("spec") or {}).get("nodeName", "")
    node = facts.nodes.get(name)
    if node is None or node.is_ready:
        return None
    message = f"its node {name} {node.trouble}"
    if metadata_of(pod).get("deletionTimestamp"):
        message = f"it is being deleted and cannot end: {message}"
    return _Cause(NODE_LOST, message, node.since, True)


def _ending(pod: Object, now: datetime) -> _Cause | None:
    due = find_time(metadata_of(pod).get("deletionTimestamp"))
    if due is None:
        return None
    held = [
        name for name in metadata_of(pod).get("finalizers") or () if name != "foregroundDeletion"
    ]
    message = f"it is being deleted, and its finalizer {held[0]} holds it" if held else ""
    return _Cause(TERMINATING, message or "it is being deleted", due, now - due > ENDING_PATIENCE)


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


def _unmounted(pod: Object, facts: ClusterFacts, now: datetime) -> _Cause | None:
    """The cause if the events of a pod say that its volumes cannot be mounted."""
    told = find_mount_warning(pod, facts)
    if told is None:
        return None
    since = find_time(first_seen(told))
    is_stuck = since is None or now - since > MOUNTING_PATIENCE
    return _Cause(FAILED_MOUNT, find_text(told), since, is_stuck)


def _container(pod: Object) -> _Cause | None:
    status = pod.get("status") or {}
    seen = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    causes = [
        cause
        for found in seen
        if (cause := _crashed(pod, found) or _waiting(pod, found)) is not None
    ]
    return min(causes, key=lambda cause: not cause.is_stuck, default=None)


def _crashed(pod: Object, status: Object) -> _Cause | None:
    """A container that has crashed, whether it waits now, runs again or has just ended."""
    if status.get("ready"):
        return None
    state = status.get("state") or {}
    ended: dict[str, Any] = (
        state.get("terminated") or (status.get("lastState") or {}).get("terminated") or {}
    )
    backs_off = (state.get("waiting") or {}).get("reason") == CRASH_LOOP
    if not ended or not (ended.get("exitCode") or backs_off):
        return None
    name, count = status.get("name", ""), status.get("restartCount", 0)
    is_looping = backs_off or count >= RESTARTS_MANY
    reason = CRASH_LOOP if is_looping else RESTARTED
    said, code = str(ended.get("message") or "").strip(), ended.get("exitCode")
    message = describe_exit(code, str(ended.get("reason") or ""), said)
    return _Cause(reason, message, _unready_since(pod), is_looping, name, count)


def _waiting(pod: Object, status: Object) -> _Cause | None:
    waiting = (status.get("state") or {}).get("waiting") or {}
    reason = waiting.get("reason", "")
    if not reason:
        return None
    since, name = _unready_since(pod), status.get("name", "")
    if reason in CREATING:
        return _Cause(reason, f"container {name} is being started", since, False, name)
    message = str(waiting.get("message") or f"container {name} does not run")
    return _Cause(reason, message, since, True, name, status.get("restartCount", 0))


def describe_exit(code: int | None, reason: str, message: str = "") -> str:
    """How a container ended, in few words."""
    words = ["it has restarted" if code is None else f"exit {code}"]
    more = "out of memory" if reason == _OUT_OF_MEMORY else message or reason
    return ", ".join((*words, more) if more else words)


def _unready_since(pod: Object) -> datetime | None:
    ready = find_condition(pod, "Ready") or {}
    return find_time(ready.get("lastTransitionTime"))
