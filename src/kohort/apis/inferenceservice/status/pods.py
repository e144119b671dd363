"""
The state of the model in a component's pods: pending, loading, loaded, or failed and why.

The newest pod decides, since it has the newest template. For a container in CrashLoopBackOff, the
reason is how it last terminated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kohort.apis.inferenceservice import names
from kohort.apis.inferenceservice.fields import read_object, read_objects, read_text
from kohort.apis.inferenceservice.status.crashes import (
    CRASHED,
    PodFailure,
    has_failed,
    make_failure,
)
from kohort.cluster.objects import Object, is_leaving, is_true, metadata_of, name_of

PENDING, LOADING, LOADED, FAILED = "Pending", "Loading", "Loaded", "FailedToLoad"
_LOADERS = (names.MODEL_INIT, names.ADAPTER, "storage-initializer")


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
    found = next((f for pod in order if (f := _find_pod_failure(pod, main)) is not None), None)
    is_spare = any(is_true(pod, "Ready") for pod in order)
    return None if found is None else replace(found, is_spare=is_spare)


def count_failed(pods: Sequence[Object], main: str) -> int:
    """How many pods have failed."""
    return sum(1 for pod in newest_first(pods) if _find_pod_failure(pod, main) is not None)


def _find_pod_failure(pod: Object, main: str) -> PodFailure | None:
    for status in _list_statuses(pod, main):
        state = read_object(status, "state")
        ended, waiting = read_object(state, "terminated"), read_object(state, "waiting")
        last = read_object(read_object(status, "lastState"), "terminated")
        if ended and has_failed(ended):
            return make_failure(pod, status, ended)
        if read_text(waiting, "reason") == CRASHED:
            return make_failure(pod, status, last)
    return None


def _list_statuses(pod: Object, main: str) -> Iterator[Object]:
    status = read_object(pod, "status")
    yield from read_objects(status, "initContainerStatuses")
    for each in read_objects(status, "containerStatuses"):
        if each.get("name") == main:
            yield each
