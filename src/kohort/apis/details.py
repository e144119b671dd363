"""
The fields that the cache keeps of pods that are not ready: enough to say why.

Most pods of a cluster are ready, and the cache keeps none of these fields for them. The shape
is that of a pod, so code that reads whole pods reads these, too. Only these fields are decoded:
a pod that starts changes several times, and most of its JSON is of no use here.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from kohort.cluster.objects import Object

_CONDITIONS = ("Ready", "PodScheduled", "PodReadyToStartContainers")
# Volumes that the kubelet makes from the pod alone never keep it waiting.
_OWN_VOLUMES = ("emptyDir", "downwardAPI")


class _Metadata(msgspec.Struct, rename="camel", omit_defaults=True):
    name: Any = None
    uid: Any = None
    creation_timestamp: Any = None
    deletion_timestamp: Any = None
    finalizers: Any = None


class _Spec(msgspec.Struct, rename="camel", omit_defaults=True):
    node_name: Any = None
    scheduler_name: Any = None
    scheduling_gates: Any = None
    volumes: list[Object] | None = None


class _Container(msgspec.Struct, rename="camel", omit_defaults=True):
    name: Any = None
    ready: Any = None
    restart_count: Any = None
    state: Any = None
    last_state: Any = None


class _Status(msgspec.Struct, rename="camel", omit_defaults=True):
    phase: Any = None
    reason: Any = None
    message: Any = None
    conditions: list[Object] | None = None
    container_statuses: list[_Container] | None = None
    init_container_statuses: list[_Container] | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    status: _Status | None = None


_decode = msgspec.json.Decoder(_Pod).decode


def read_details(raw: bytes) -> Object:
    """The fields of a pod that tell why it is not ready."""
    pod = _decode(raw)
    spec, status = pod.spec or _Spec(), pod.status or _Status()
    outer = [{"name": v.get("name", "")} for v in _find_outer(spec.volumes or ())]
    spec.volumes = outer or None
    status.conditions = [c for c in status.conditions or () if c.get("type") in _CONDITIONS]
    status.container_statuses = status.container_statuses or None
    status.init_container_statuses = status.init_container_statuses or None
    return {
        "metadata": msgspec.to_builtins(pod.metadata or _Metadata()),
        "spec": msgspec.to_builtins(spec),
        "status": msgspec.to_builtins(status),
    }


def list_outer_volumes(spec: Object) -> list[Object]:
    """The volumes of a pod that need something outside of it, such as a claim or a Secret."""
    return _find_outer(spec.get("volumes") or ())


def _find_outer(volumes: Iterable[Object]) -> list[Object]:
    return [v for v in volumes if not any(name in v for name in _OWN_VOLUMES)]
