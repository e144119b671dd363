"""
Pods, as a built-in kind: its row, its columns, and the fields that the server sets.

Those fields are the first status, and values that admission plugins of Kubernetes set.

The one-word status that kubectl shows comes from the first of: an init container that holds the
pod up, a container that waits or has ended, the reason of the pod, its phase. A pod that
is being deleted says so unless it has ended before.
"""

from collections.abc import Mapping
from datetime import datetime
from sys import intern

from kohort.apiserver.resources.kind import BuiltinKind
from kohort.apiserver.resources.pods.defaults import admit_pod_spec, default_pod
from kohort.apiserver.resources.pods.validation import validate_pod, validate_pod_status
from kohort.apiserver.resources.pods.warnings import warn_of_pod
from kohort.apiserver.resources.prepare import keep_spec, keep_status
from kohort.apiserver.resources.printers import (
    AGE,
    NAME,
    NONE,
    find_moment,
    make_printer,
    show_duration,
    shown,
    spec_of,
    status_of,
    timed,
    wide,
)
from kohort.apiserver.resources.resource import Behaviour
from kohort.cluster import kinds
from kohort.cluster.objects import Object, find_condition, is_leaving, is_true
from kohort.cluster.quantities import parse_quantity

_QUALITY_RESOURCES = ("cpu", "memory")
_GATED = "Scheduling is blocked due to non-empty scheduling gates"


def prepare_pod(pod: Object) -> None:
    """Set the server's fields of a new pod: account, and priority 0 without a class."""
    spec = pod["spec"]
    admit_pod_spec(spec)
    if not spec.get("priorityClassName"):
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")


def finish_pod(pod: Object) -> None:
    """Set the first status, and the class that follows from requests; no webhook sets them."""
    spec = pod["spec"]
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    status: Object = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": pod["metadata"].get("creationTimestamp"),
                "reason": "SchedulingGated",
                "message": _GATED,
            }
        ]
    pod["status"] = {**status, "qosClass": quality_of(spec)}


def prepare_pod_update(pod: Object, old: Object) -> None:
    """Keep the status and the priority; set a missing account and the tolerations again."""
    keep_status(pod, old)
    admit_pod_spec(pod["spec"])
    for field in ("priority", "preemptionPolicy"):
        if field in old["spec"]:
            pod["spec"].setdefault(field, old["spec"][field])


def prepare_pod_status(pod: Object, old: Object) -> None:
    """Keep the QoS class, which follows from the spec, on a status update."""
    keep_spec(pod, old)
    quality = (old.get("status") or {}).get("qosClass")
    if quality:
        pod.setdefault("status", {})["qosClass"] = quality


def quality_of(spec: Object) -> str:
    """The QoS class of a pod, from the requests and limits of its containers."""
    is_guaranteed, asks = True, False
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            resources = container.get("resources") or {}
            limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
            for name in _QUALITY_RESOURCES:
                limit, request = _amount(limits, name), _amount(requests, name)
                asks = asks or limit > 0 or request > 0
                is_guaranteed = is_guaranteed and limit > 0 and limit == request
    if not asks:
        return "BestEffort"
    return "Guaranteed" if is_guaranteed else "Burstable"


def _amount(amounts: Object, name: str) -> int:
    value = amounts.get(name)
    if value is None:
        return 0
    try:
        return parse_quantity(value)
    except ValueError:
        return 0


_ENDED = ("Succeeded", "Failed")


def _state(container: Object, name: str) -> Object | None:
    found: Object | None = (container.get("state") or {}).get(name)
    return found


def _restarting_names(pod: Object) -> set[str]:
    """The names of restartable init containers (sidecars)."""
    inits = spec_of(pod).get("initContainers") or []
    return {init["name"] for init in inits if init.get("restartPolicy") == "Always"}


def _find_blocking_init(pod: Object) -> tuple[int, Object] | None:
    """The first init container that has not completed, and its index."""
    if is_true(pod, "Initialized"):
        return None
    restarting = _restarting_names(pod)
    for place, init in enumerate(status_of(pod).get("initContainerStatuses") or []):
        ended = _state(init, "terminated")
        is_done = ended is not None and not ended.get("exitCode")
        is_started = init.get("name") in restarting and init.get("started")
        if not is_done and not is_started:
            return place, init
    return None


def _describe_end(ended: Object) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    if ended.get("signal"):
        return f"Signal:{ended['signal']}"
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _describe_init(pod: Object, place: int, init: Object) -> str:
    ended, waiting = _state(init, "terminated"), _state(init, "waiting") or {}
    if ended is not None:
        return f"Init:{_describe_end(ended)}"
    if waiting.get("reason") not in (None, "", "PodInitializing"):
        return f"Init:{waiting['reason']}"
    return f"Init:{place}/{len(spec_of(pod).get('initContainers') or [])}"


def _is_serving(container: Object) -> bool:
    return bool(container.get("ready")) and _state(container, "running") is not None


def _describe_containers(pod: Object) -> str | None:
    """The reason of the first container that is not running."""
    containers: list[Object] = status_of(pod).get("containerStatuses") or []
    said = None
    for container in reversed(containers):
        ended, waiting = _state(container, "terminated"), _state(container, "waiting") or {}
        if waiting.get("reason"):
            said = str(waiting["reason"])
        elif ended is not None:
            said = _describe_end(ended)
    if said == "Completed" and any(_is_serving(container) for container in containers):
        return "Running" if is_true(pod, "Ready") else "NotReady"
    return said


def _describe(pod: Object) -> str:
    status = status_of(pod)
    blocking = _find_blocking_init(pod)
    if blocking is not None:
        return _describe_init(pod, *blocking)
    said = _describe_containers(pod)
    if said is not None:
        return said
    if status.get("reason"):
        return str(status["reason"])
    scheduled = find_condition(pod, "PodScheduled") or {}
    is_gated = scheduled.get("reason") == "SchedulingGated"
    return "SchedulingGated" if is_gated else str(status.get("phase", ""))


def read_status(pod: Object) -> str:
    """The pod's status in one word, such as Running or CrashLoopBackOff."""
    if is_leaving(pod) and status_of(pod).get("reason") == "NodeLost":
        return "Unknown"
    if is_leaving(pod) and status_of(pod).get("phase") not in _ENDED:
        return "Terminating"
    return _describe(pod)


def _lasting_containers(pod: Object) -> list[Object]:
    """The containers that count for READY: the main ones and the sidecars."""
    restarting = _restarting_names(pod)
    inits = status_of(pod).get("initContainerStatuses") or []
    beside = [init for init in inits if init.get("name") in restarting]
    return [*beside, *(status_of(pod).get("containerStatuses") or [])]


def read_ready(pod: Object) -> str:
    """How many containers serve, of how many."""
    ready = sum(1 for container in _lasting_containers(pod) if _is_serving(container))
    total = len(spec_of(pod).get("containers") or []) + len(_restarting_names(pod))
    return f"{ready}/{total}"


def read_restarts(pod: Object, now: datetime) -> str:
    """How often containers have restarted, and when last."""
    if _find_blocking_init(pod) is not None:
        containers = status_of(pod).get("initContainerStatuses") or []
    else:
        containers = _lasting_containers(pod)
    restarts = sum(container.get("restartCount", 0) for container in containers)
    ends = [(c.get("lastState") or {}).get("terminated") or {} for c in containers]
    moments = [find_moment(end.get("finishedAt")) for end in ends]
    known = [moment for moment in moments if moment is not None]
    if not restarts or not known:
        return str(restarts)
    return f"{restarts} ({show_duration(int((now - max(known)).total_seconds()))} ago)"


def _read_address(pod: Object) -> str:
    addresses = status_of(pod).get("podIPs") or [{}]
    return addresses[0].get("ip") or NONE


def _read_gates(pod: Object) -> str:
    gates = spec_of(pod).get("readinessGates") or []
    open_gates = sum(1 for gate in gates if is_true(pod, gate.get("conditionType", "")))
    return f"{open_gates}/{len(gates)}" if gates else NONE


def _read_conditions(pod: Object) -> list[Object]:
    phase = status_of(pod).get("phase")
    if phase not in _ENDED:
        return []
    message = "The pod has completed successfully." if phase == "Succeeded" else "The pod failed."
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


PODS = make_printer(
    NAME,
    shown("Ready", read_ready, "How many containers serve, of how many."),
    shown("Status", read_status, "What the pod is doing."),
    timed("Restarts", read_restarts, "How often containers restarted, and when last."),
    AGE,
    wide("IP", _read_address, "The address of the pod."),
    wide("Node", lambda pod: spec_of(pod).get("nodeName") or NONE, "Where the pod runs."),
    wide("Nominated Node", lambda pod: status_of(pod).get("nominatedNodeName") or NONE),
    wide("Readiness Gates", _read_gates, "How many gates are open, of how many."),
    conditions=_read_conditions,
)


_FIELDS = (
    "spec.hostNetwork",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.nominatedNodeName",
    "status.phase",
    "status.podIP",
    "status.podIPs",
)


def pod_fields(pod: Object) -> Mapping[str, str]:
    """The selectable fields of a pod."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return {
        "spec.nodeName": intern(spec.get("nodeName") or ""),
        "spec.restartPolicy": intern(spec.get("restartPolicy") or ""),
        "spec.schedulerName": intern(spec.get("schedulerName") or ""),
        "spec.serviceAccountName": intern(spec.get("serviceAccountName") or ""),
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": intern(status.get("phase") or ""),
        "status.podIP": status.get("podIP") or "",
        "status.nominatedNodeName": status.get("nominatedNodeName") or "",
    }


KINDS = (
    BuiltinKind(
        kinds.POD,
        ("po",),
        ("all",),
        Behaviour(
            warn=warn_of_pod,
            validate=validate_pod,
            validate_status=validate_pod_status,
            default=default_pod,
            prepare_create=prepare_pod,
            finish_create=finish_pod,
            prepare_update=prepare_pod_update,
            prepare_status=prepare_pod_status,
            fields=pod_fields,
        ),
        PODS,
        subresources=("binding", "ephemeralcontainers", "eviction", "log", "status"),
        has_generation=True,
        fields=_FIELDS,
        graceful=True,
    ),
)
