"""
Simulated log lines of a container, made from the pod's status.

Nothing is stored. The lines follow from when the container started, when the pod
became ready and how the last run ended, so two readers see the same log.
"""

from datetime import UTC, datetime, timedelta

from kohort.cluster.objects import Object, annotations_of, find_condition
from kohort.simulator.stages import KubeletStages, Manner, asks_for_accelerator

Line = tuple[datetime, str]


def render_log(
    pod: Object,
    container: str,
    *,
    previous: bool = False,
    now: datetime | None = None,
    stages: KubeletStages | None = None,
) -> list[Line] | None:
    """The lines of a container with their times; None if it has not run (before)."""
    status = _find_status(pod, container)
    if status is None:
        return None
    state: Object = status.get("state") or {}
    if previous or "waiting" in state:
        state = status.get("lastState") or {}
        previous = True
    run = state.get("running") or state.get("terminated")
    if not run or not run.get("startedAt"):
        return None
    manner = make_manner(pod, stages or KubeletStages())
    lines = _starting_lines(pod, status, _time(run["startedAt"]), manner, previous)
    if "terminated" in state:
        lines += _ending_lines(run)
    end = _time(run["finishedAt"]) if run.get("finishedAt") else now
    return [(at, text) for at, text in lines if end is None or at <= end]


def make_manner(pod: Object, stages: KubeletStages) -> Manner:
    """The behaviour of a pod, from its annotations."""
    wanted = [
        name
        for container in pod["spec"]["containers"]
        for amounts in (container.get("resources") or {}).values()
        if isinstance(amounts, dict)
        for name in amounts
    ]
    uid = pod["metadata"].get("uid", "")
    ends = pod["spec"].get("restartPolicy", "Always") != "Always"
    return Manner(stages, uid, annotations_of(pod), asks_for_accelerator(wanted), ends)


def _starting_lines(
    pod: Object, status: Object, start: datetime, manner: Manner, previous: bool
) -> list[Line]:
    name, image = status["name"], status.get("image", "")
    lines = [
        (start, f"container {name} started from image {image}"),
        (start, f"restart {max(status.get('restartCount', 0) - int(previous), 0)}"),
    ]
    ready = find_condition(pod, "Ready")
    ready_at = None
    if ready and ready.get("status") == "True" and status.get("ready") and not previous:
        ready_at = max(_time(ready["lastTransitionTime"]), start)
    load = manner.seconds(manner.stages.load)
    if load:
        # With a fast clock a pod is ready before its simulated seconds have passed.
        loaded = start + timedelta(seconds=load)
        lines.append((start, "loading weights"))
        lines.append((min(loaded, ready_at or loaded), f"weights loaded in {load:g}s"))
    if ready_at is not None:
        lines.append((ready_at, "ready, serving requests"))
    return sorted(lines, key=lambda line: line[0])


def _ending_lines(run: Object) -> list[Line]:
    at = _time(run["finishedAt"])
    if run.get("exitCode", 0) == 0:
        return [(at, "finished")]
    return [(at, f"fatal: exiting with code {run['exitCode']}")]


def _find_status(pod: Object, container: str) -> Object | None:
    status = pod.get("status") or {}
    everyone = [
        *(status.get("containerStatuses") or ()),
        *(status.get("initContainerStatuses") or ()),
    ]
    return next((item for item in everyone if item["name"] == container), None)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)
