"""
Whether a component crashes: a component of which one pod crashes is not ready.

A crash begins when any container of a pod ends and should run. It is over when the pod has been
ready for ``STEADY_SECONDS``, or is gone. Between two back-offs the kubelet runs the container
again, and without a probe the pod is even ready for a moment, so its present state alone would
make Ready change with each attempt.

A pod that has ended for good was replaced, and is no crash. An in-place update ends containers,
too; the annotation that it leaves on the pod tells which restarts were its own.

Traffic does not follow from this: other pods of the component may serve.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kohort.apis.carriers.members import read_moment
from kohort.apis.inferenceservice import labels
from kohort.apis.inferenceservice.fields import (
    find_number,
    parse_object,
    read_object,
    read_objects,
    read_text,
)
from kohort.cluster.objects import Object, annotations_of, find_condition, is_leaving, name_of

STEADY_SECONDS = 10.0  # the kubelet's first back-off
CRASHED = "CrashLoopBackOff"
_ENDED = ("Failed", "Succeeded")
_LUCK = 1  # a container that ends well once is not said to crash


@dataclass(frozen=True, slots=True)
class PodFailure:
    """A container that failed."""

    pod: str
    container: str
    reason: str
    message: str = ""
    exit_code: int | None = None
    time: str = ""
    is_spare: bool = False  # other pods of the component are ready

    def describe(self) -> str:
        """Which container of which pod failed, and how."""
        code = "" if self.exit_code is None else f" with exit code {self.exit_code}"
        text = f": {self.message}" if self.message else ""
        return f"container {self.container} of pod {self.pod} ended{code}{text}"


def find_crash(pods: Sequence[Object], now: float) -> PodFailure | None:
    """The crash of the first of these pods that crashes, in epoch seconds."""
    return next((failure for failure, since in _list_crashes(pods) if _lasts(since, now)), None)


def list_crash_ends(pods: Sequence[Object]) -> Iterator[float]:
    """When crashes of these pods may be over though nothing changes, in epoch seconds."""
    return (since + STEADY_SECONDS for _, since in _list_crashes(pods) if since is not None)


def _lasts(since: float | None, now: float) -> bool:
    """Whether a crash lasts; a pod's clock may be a little ahead, and not by any time."""
    return since is None or abs(now - since) < STEADY_SECONDS


def _list_crashes(pods: Iterable[Object]) -> Iterator[tuple[PodFailure, float | None]]:
    """Each crash, and since when its pod is ready again; None if it is not."""
    for pod in pods:
        if is_leaving(pod) or read_text(read_object(pod, "status"), "phase") in _ENDED:
            continue
        found = next(_list_failed(pod), None)
        if found is None:
            continue
        status, ended = found
        yield make_failure(pod, status, ended), _find_ready_since(pod)


def _find_ready_since(pod: Object) -> float | None:
    """Since when a pod is ready and all its containers run; None if it is not ready."""
    ready = find_condition(pod, "Ready") or {}
    if ready.get("status") != "True":
        return None
    starts = [
        read_text(read_object(read_object(each, "state"), "running"), "startedAt")
        for each in read_objects(read_object(pod, "status"), "containerStatuses")
    ]
    return max(map(read_moment, (read_text(ready, "lastTransitionTime"), *starts)))


def _list_failed(pod: Object) -> Iterator[tuple[Object, Object]]:
    """The containers that crash, each with how it last ended."""
    status, note = read_object(pod, "status"), _read_note(pod)
    for field, is_init in (("initContainerStatuses", True), ("containerStatuses", False)):
        for each in read_objects(status, field):
            ended = _find_failed_end(each, is_init)
            if ended is not None and not _is_planned(each, note):
                yield each, ended


def _find_failed_end(status: Object, is_init: bool) -> Object | None:
    """How a container that should run last ended; None if it does not crash."""
    state = read_object(status, "state")
    last = read_object(read_object(status, "lastState"), "terminated")
    if read_text(read_object(state, "waiting"), "reason") == CRASHED:
        return last
    ended = read_object(state, "terminated")
    if is_init and ended and not has_failed(ended):
        return None
    found = ended or last
    is_looping = (find_number(status, "restartCount") or 0) > _LUCK and not is_init
    return found if found and (has_failed(found) or is_looping) else None


def has_failed(ended: Object) -> bool:
    """Whether an ended run failed."""
    return bool(find_number(ended, "exitCode")) or read_text(ended, "reason") == "Error"


def _read_note(pod: Object) -> Object:
    text = annotations_of(pod).get(labels.IN_PLACE_STATE, "")
    return read_object(parse_object(text) or {}, "lastContainerStatuses") if text else {}


def _is_planned(status: Object, note: Object) -> bool:
    """Whether an in-place update ended the last run of a container."""
    name, state = read_text(status, "name"), read_object(status, "state")
    if name not in note or read_text(read_object(state, "waiting"), "reason") == CRASHED:
        return False
    before = read_object(note, name)
    restarts, held = (find_number(each, "restartCount") for each in (status, before))
    # The update restarts a container once, or twice if the kubelet had still to start another
    # image. Upstream's annotation has no counts: the update is taken to have caused the last.
    caused = 0 if "terminated" in state else 1
    caused += bool(read_text(before, "pendingImage"))
    return (restarts or 0) <= (held if held is not None else (restarts or 0) - 1) + caused


def make_failure(pod: Object, status: Object, ended: Object) -> PodFailure:
    """The failure of a container that ended so."""
    reason = read_text(ended, "reason")
    return PodFailure(
        pod=name_of(pod),
        container=read_text(status, "name"),
        reason=CRASHED if reason in ("", "Error", "Completed", CRASHED) else reason,
        message=read_text(ended, "message"),
        exit_code=find_number(ended, "exitCode"),
        time=read_text(ended, "finishedAt"),
    )
