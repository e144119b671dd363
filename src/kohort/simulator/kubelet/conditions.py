"""
The conditions and the phase of a pod, derived from the states of its containers.

Nothing here remembers anything: the same containers give the same conditions,
and a condition keeps its transition time as long as its status stays.
"""

from kohort.cluster.conditions import since
from kohort.cluster.objects import Object

OWN_TYPES = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


def find_phase(pod: Object, mains: list[Object], *, is_initialised: bool) -> str:
    """The phase of a pod, from the states of its containers."""
    policy = pod["spec"].get("restartPolicy", "Always")
    if not is_initialised or any(is_fresh(status) for status in mains):
        return "Pending"
    # A container that waits for another image or a restart has not ended.
    is_alive = any("terminated" not in status["state"] for status in mains)
    if is_alive or policy == "Always":
        return "Running"
    if all(_exit_code(status) == 0 for status in mains):
        return "Succeeded"
    return "Running" if policy == "OnFailure" else "Failed"


def is_fresh(status: Object) -> bool:
    """Whether a container waits for its first start."""
    return "waiting" in status["state"] and not status.get("lastState")


def _exit_code(status: Object) -> int:
    ended = status["state"].get("terminated") or status.get("lastState", {}).get("terminated")
    return int(ended["exitCode"]) if ended else 0


def make_conditions(pod: Object, status: Object, stamp: str) -> list[Object]:
    """All conditions of a pod; those of other writers stay."""
    before: list[Object] = (pod.get("status") or {}).get("conditions") or []
    known = {condition["type"]: condition for condition in before}
    ready = _containers_ready(pod, status)
    wanted = {
        "PodReadyToStartContainers": _claim("True" if _has_sandbox(status) else "False"),
        "Initialized": _initialised(pod, status),
        "Ready": _pod_ready(pod, ready, known),
        "ContainersReady": ready,
        "PodScheduled": _claim("True"),
    }
    generation = pod["metadata"].get("generation")
    made = []
    for name, claim in wanted.items():
        old = known.get(name, {})
        condition: Object = {"type": name, "lastProbeTime": None}
        condition["lastTransitionTime"] = since(old, claim["status"], stamp)
        if generation:
            condition["observedGeneration"] = generation
        made.append({**condition, **claim})
    return [*made, *(c for c in before if c["type"] not in OWN_TYPES)]


def _has_sandbox(status: Object) -> bool:
    return bool(status.get("podIP")) and status["phase"] in ("Pending", "Running")


def _claim(status: str, reason: str = "", message: str = "") -> Object:
    claim = {"status": status}
    if reason:
        claim["reason"] = reason
    if message:
        claim["message"] = message
    return claim


def _initialised(pod: Object, status: Object) -> Object:
    if status["phase"] == "Succeeded":
        return _claim("True", "PodCompleted")
    open_ones = [
        item["name"]
        for item, spec in zip(
            status.get("initContainerStatuses") or (),
            pod["spec"].get("initContainers") or (),
            strict=False,
        )
        if not is_init_done(item, spec)
    ]
    if not open_ones:
        return _claim("True")
    listed = " ".join(open_ones)
    return _claim(
        "False", "ContainersNotInitialized", f"containers with incomplete status: [{listed}]"
    )


def is_init_done(status: Object, spec: Object) -> bool:
    """Whether an init container lets the next one start."""
    if spec.get("restartPolicy") == "Always":
        return bool(status.get("started"))
    ended = status["state"].get("terminated")
    return bool(ended) and ended["exitCode"] == 0


def _containers_ready(pod: Object, status: Object) -> Object:
    if status["phase"] in ("Succeeded", "Failed"):
        reason = "PodCompleted" if status["phase"] == "Succeeded" else "PodFailed"
        return _claim("False", reason)
    sidecars = [
        item
        for item, spec in zip(
            status.get("initContainerStatuses") or (),
            pod["spec"].get("initContainers") or (),
            strict=False,
        )
        if spec.get("restartPolicy") == "Always"
    ]
    unready = [s["name"] for s in (*sidecars, *status["containerStatuses"]) if not s["ready"]]
    if not unready:
        return _claim("True")
    listed = " ".join(unready)
    return _claim("False", "ContainersNotReady", f"containers with unready status: [{listed}]")


def _pod_ready(pod: Object, ready: Object, known: dict[str, Object]) -> Object:
    if ready["status"] != "True":
        return ready
    complaints = []
    for gate in pod["spec"].get("readinessGates") or ():
        name = gate["conditionType"]
        if name not in known:
            complaints.append(
                f'corresponding condition of pod readiness gate "{name}" does not exist.'
            )
        elif known[name]["status"] != "True":
            complaints.append(
                f'the status of pod readiness gate "{name}" is not "True", '
                f"but {known[name]['status']}"
            )
    if complaints:
        return _claim("False", "ReadinessGatesNotReady", ", ".join(complaints))
    return ready
