"""
The fields that the cache keeps of pods that are not ready: enough to say why.

Most pods of a cluster are ready, and the cache keeps none of these fields for them. The shape
is that of a pod, so code that reads whole pods reads these, too.
"""

import orjson

from kohort.cluster.objects import Object

_METADATA = ("name", "uid", "creationTimestamp", "deletionTimestamp", "finalizers")
_SPEC = ("nodeName", "schedulerName", "schedulingGates")
_STATUS = ("phase", "reason", "message")
_CONDITIONS = ("Ready", "PodScheduled", "PodReadyToStartContainers")
# Volumes that the kubelet makes from the pod alone never keep it waiting.
_OWN_VOLUMES = ("emptyDir", "downwardAPI")
_CONTAINER = ("name", "ready", "restartCount", "state", "lastState")
_LISTS = ("containerStatuses", "initContainerStatuses")


def read_details(raw: bytes) -> Object:
    """The fields of a pod that tell why it is not ready."""
    pod: Object = orjson.loads(raw)
    status: Object = pod.get("status") or {}
    conditions = [c for c in status.get("conditions") or () if c.get("type") in _CONDITIONS]
    containers = {
        name: [_pick(found, _CONTAINER) for found in status[name]]
        for name in _LISTS
        if status.get(name)
    }
    spec: Object = pod.get("spec") or {}
    volumes = [{"name": volume.get("name", "")} for volume in list_outer_volumes(spec)]
    return {
        "metadata": _pick(pod.get("metadata") or {}, _METADATA),
        "spec": {**_pick(spec, _SPEC), **({"volumes": volumes} if volumes else {})},
        "status": {**_pick(status, _STATUS), "conditions": conditions, **containers},
    }


def list_outer_volumes(spec: Object) -> list[Object]:
    """The volumes of a pod that need something outside of it, such as a claim or a Secret."""
    volumes = spec.get("volumes") or ()
    return [v for v in volumes if not any(name in v for name in _OWN_VOLUMES)]


def _pick(source: Object, names: tuple[str, ...]) -> Object:
    return {name: source[name] for name in names if source.get(name) is not None}
