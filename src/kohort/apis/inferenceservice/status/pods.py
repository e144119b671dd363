"""
The state of the model in a component's pods: pending, loading, loaded, or failed and why.

The newest pod decides, since it has the newest template. For a container in CrashLoopBackOff, the
reason is how it last terminated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kohort.apis.inferenceservice import names
from kohort.apis.inferenceservice.fields import find_number, read_object, read_objects, read_text
from kohort.cluster.objects import Object, is_leaving, is_true, metadata_of, name_of

PENDING, LOADING, LOADED, FAILED = "Pending", "Loading", "Loaded", "FailedToLoad"
_LOADERS = (names.MODEL_INIT, names.ADAPTER, "storage-initializer")
_CRASHED = "CrashLoopBackOff"


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


def newest_first(pods: Sequence[Object]) -> list[Object]:
    """The pods that are not being deleted, newest first."""
    staying = [pod for pod in pods if not is_leaving(pod)]
    return sorted(
        staying,
        key=lambda pod: (str(metadata_of(pod).get("creationTimestamp", "")), name_of(pod)),
        reverse=True,
    )


def read_model_state(pods: Sequence[Object], main: str, is_ready: bool) -> str:
    """The state of the model in a component: pending, loading, loaded or failed."""
    order = newest_first(pods)
    if not order:
        return PENDING
    if is_ready:
        return LOADED
    newest = order[0]
    if _find_pod_failure(newest, main) is not None:
        return FAILED
    inits = read_objects(read_object(newest, "status"), "initContainerStatuses")
    loaders = [each for each in inits if each.get("name") in _LOADERS]
    is_loading = any("running" in read_object(each, "state") for each in loaders)
    return LOADING if is_loading else PENDING


def find_failure(pods: Sequence[Object], main: str) -> PodFailure | None:
    """The failure of the newest pod that has one."""
    order = newest_first(pods)
    ready = sum(1 for pod in order if is_true(pod, "Ready"))
    for pod in order:
        found = _find_pod_failure(pod, main)
        if found is not None:
            return PodFailure(
                pod=found.pod,
                container=found.container,
                reason=found.reason,
                message=found.message,
                exit_code=found.exit_code,
                time=found.time,
                is_spare=ready > 0,
            )
    return None


def count_failed(pods: Sequence[Object], main: str) -> int:
    """How many pods have failed."""
    return sum(1 for pod in newest_first(pods) if _find_pod_failure(pod, main) is not None)


def _find_pod_failure(pod: Object, main: str) -> PodFailure | None:
    for status in _list_statuses(pod, main):
        state = read_object(status, "state")
        ended, waiting = read_object(state, "terminated"), read_object(state, "waiting")
        last = read_object(read_object(status, "lastState"), "terminated")
        if ended and read_text(ended, "reason") == "Error":
            return _make(pod, status, "Error", ended)
        if read_text(waiting, "reason") == _CRASHED:
            return _make(pod, status, read_text(last, "reason") or _CRASHED, last)
    return None


def _list_statuses(pod: Object, main: str) -> Iterator[Object]:
    status = read_object(pod, "status")
    yield from read_objects(status, "initContainerStatuses")
    for each in read_objects(status, "containerStatuses"):
        if each.get("name") == main:
            yield each


def _make(pod: Object, status: Object, reason: str, ended: Object) -> PodFailure:
    return PodFailure(
        pod=name_of(pod),
        container=read_text(status, "name"),
        reason=_CRASHED if reason in ("Error", _CRASHED) else reason,
        message=read_text(ended, "message"),
        exit_code=find_number(ended, "exitCode"),
        time=read_text(ended, "finishedAt"),
    )
