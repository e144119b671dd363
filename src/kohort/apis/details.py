"""
What is kept of pods that are not ready: enough to say what keeps them from serving.

Most pods of a cluster are ready, and nothing of this is kept of them. The shape is that
of the pod itself, so what reads whole pods reads these too.
"""

import orjson

from kohort.cluster.objects import Object

_METADATA = ("name", "uid", "creationTimestamp", "deletionTimestamp", "finalizers")
_SPEC = ("nodeName", "schedulerName", "schedulingGates")
_STATUS = ("phase", "reason", "message")
_CONDITIONS = ("Ready", "PodScheduled")
_CONTAINER = ("name", "ready", "restartCount", "state", "lastState")
_LISTS = ("containerStatuses", "initContainerStatuses")


def read_details(raw: bytes) -> Object:
    """The part of a pod that says why it does not serve."""
    pod: Object = orjson.loads(raw)
    status: Object = pod.get("status") or {}
    conditions = [c for c in status.get("conditions") or () if c.get("type") in _CONDITIONS]
    containers = {
        name: [_pick(found, _CONTAINER) for found in status[name]]
        for name in _LISTS
        if status.get(name)
    }
    return {
        "metadata": _pick(pod.get("metadata") or {}, _METADATA),
        "spec": _pick(pod.get("spec") or {}, _SPEC),
        "status": {**_pick(status, _STATUS), "conditions": conditions, **containers},
    }


def _pick(source: Object, names: tuple[str, ...]) -> Object:
    return {name: source[name] for name in names if source.get(name) is not None}
